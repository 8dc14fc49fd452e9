import APNSModel
import PushModel

/// A ledger entry as a line of JSON.
///
/// `{"at":"2026-11-21T08:36:16.123Z","connection":1,"sequence":1,"command":2,"identifier":1,"expiry":0,"priority":10,`
/// `"token":"740f…","payload":"{\"aps\":{}}","outcome":"refused","status":8}`. Values that a frame does not contain are
/// omitted. A payload that is not UTF-8 is written as `payload_hex`. A request over HTTP/2 has `stream`, `id` and
/// `head`, which contains one field per line, without the secret in `authorization`; if it was refused, it has
/// `"outcome":"rejected"`, a `status` and a `reason`. A message of FCM has `"target":"topic","address":"news"` instead of
/// `token`.
extension [UInt8] {
    mutating func appendLine(of entry: Ledger.Entry) {
        appendText("{\"at\":\"\(WallTime(nanoseconds: entry.epochNanoseconds).rfc3339)\"")
        appendText(",\"connection\":\(entry.connection),\"sequence\":\(entry.sequence),\"command\":\(entry.command)")
        if let identifier = entry.identifier { appendText(",\"identifier\":\(identifier)") }
        if let expiry = entry.expiry { appendText(",\"expiry\":\(expiry)") }
        if let priority = entry.priority { appendText(",\"priority\":\(priority)") }
        if let target = entry.request?.target {
            appendText(",\"target\":\"\(target)\",\"address\":\"")
            appendEscaped(entry.token)
            appendText("\"")
        } else {
            appendText(",\"token\":\"\(entry.tokenText)\"")
        }
        if let request = entry.request { appendRequest(request) }
        appendPayload(entry.payload)
        switch entry.outcome {
        case .accepted: appendText(",\"outcome\":\"accepted\"}\n")
        case .discarded: appendText(",\"outcome\":\"discarded\"}\n")
        case .refused(let status): appendText(",\"outcome\":\"refused\",\"status\":\(status)}\n")
        case .rejected(let status, let reason):
            appendText(",\"outcome\":\"rejected\",\"status\":\(status),\"reason\":\"")
            appendEscaped(Array(reason.utf8))
            appendText("\"}\n")
        }
    }

    private mutating func appendRequest(_ request: Ledger.Request) {
        appendText(",\"stream\":\(request.stream),\"id\":\"\(request.id)\",\"head\":\"")
        for field in request.fields {
            let value = field.name == "authorization" ? "bearer …" : field.value
            appendEscaped(Array("\(field.name): \(value)\n".utf8))
        }
        appendText("\"")
    }

    private mutating func appendText(_ text: String) {
        append(contentsOf: text.utf8)
    }

    private mutating func appendPayload(_ payload: [UInt8]) {
        guard String(validating: payload, as: UTF8.self) != nil else {
            appendText(",\"payload_hex\":\"\(DeviceToken(bytes: payload).hex)\"")
            return
        }
        appendText(",\"payload\":\"")
        appendEscaped(payload)
        appendText("\"")
    }

    private mutating func appendEscaped(_ text: [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20:
                appendText("\\u00")
                appendText(DeviceToken(bytes: [byte]).hex)
            default:
                append(byte)
            }
        }
    }
}

extension Ledger {
    /// Parses the lines that a ledger wrote to a file, for a test that runs the simulator as a program.
    ///
    /// Ignores the last line if it does not end in a newline, because it is still being written.
    ///
    /// - Throws: `LineFault` if the text was not written by a ledger.
    public static func entries(ofLines text: [UInt8]) throws(LineFault) -> [Entry] {
        var entries: [Entry] = []
        var start = text.startIndex
        while let end = text[start...].firstIndex(of: 0x0A) {
            guard let entry = LedgerLineReader(text[start..<end]).entry() else {
                throw LineFault(line: entries.count + 1)
            }
            entries.append(entry)
            start = end + 1
        }
        return entries
    }

    /// The error for a line that was not written by a ledger.
    public struct LineFault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The line number, from 1.
        public let line: Int

        /// A message with the line number.
        public var description: String { "line \(line) is not a ledger entry" }
    }
}

/// Parses one line in the exact form that `appendLine(of:)` writes.
private struct LedgerLineReader {
    private var numbers: [String: Int64] = [:]
    private var texts: [String: [UInt8]] = [:]
    private var rest: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) {
        rest = line
    }

    consuming func entry() -> Ledger.Entry? {
        guard readFields(), let outcome, let command = number("command", UInt8.self),
            let connection = numbers["connection"], let sequence = numbers["sequence"],
            let at = texts["at"], let time = WallTime(rfc3339: String(decoding: at, as: UTF8.self)),
            let token = texts["address"] ?? texts["token"].flatMap(Self.bytes(ofHex:)),
            let payload = texts["payload"] ?? texts["payload_hex"].flatMap(Self.bytes(ofHex:))
        else { return nil }
        return Ledger.Entry(
            connection: Int(connection), sequence: Int(sequence), command: command,
            identifier: number("identifier", UInt32.self), expiry: number("expiry", UInt32.self),
            priority: number("priority", UInt8.self), token: token, payload: payload, outcome: outcome,
            epochNanoseconds: time.nanoseconds, request: request)
    }

    private var request: Ledger.Request? {
        guard let stream = number("stream", UInt32.self), let id = texts["id"], let head = texts["head"] else {
            return nil
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\n")
        return Ledger.Request(
            stream: stream, id: String(decoding: id, as: UTF8.self),
            fields: lines.compactMap { line in
                // The name of a pseudo-header field begins with a colon itself.
                guard let colon = line.dropFirst().firstIndex(of: ":") else { return nil }
                return .init(String(line[..<colon]), String(line[colon...].dropFirst(2)))
            }, target: texts["target"].map { String(decoding: $0, as: UTF8.self) })
    }

    private var outcome: Ledger.Outcome? {
        switch texts["outcome"].map({ String(decoding: $0, as: UTF8.self) }) {
        case "accepted": .accepted
        case "discarded": .discarded
        case "refused": number("status", UInt8.self).map { .refused(status: $0) }
        case "rejected":
            number("status", Int.self).map {
                .rejected(status: $0, reason: String(decoding: texts["reason"] ?? [], as: UTF8.self))
            }
        default: nil
        }
    }

    private func number<Value: FixedWidthInteger>(_ key: String, _ type: Value.Type) -> Value? {
        numbers[key].flatMap(Value.init(exactly:))
    }

    private mutating func readFields() -> Bool {
        guard rest.popFirst() == UInt8(ascii: "{") else { return false }
        while let key = readText(), rest.popFirst() == UInt8(ascii: ":") {
            let name = String(decoding: key, as: UTF8.self)
            if let text = readText() {
                texts[name] = text
            } else {
                let digits = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
                rest = rest[digits.endIndex...]
                guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { return false }
                numbers[name] = number
            }
            switch rest.popFirst() {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "}"): return rest.isEmpty
            default: return false
            }
        }
        return false
    }

    /// Reads a string, if one is next.
    private mutating func readText() -> [UInt8]? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest.removeFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            guard escaped == UInt8(ascii: "u") else {
                text.append(escaped)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) else { return nil }
            text.append(value)
            rest = rest.dropFirst(4)
        }
        return text
    }

    private static func bytes(ofHex text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        guard text.count % 2 == 0 else { return nil }
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let byte = UInt8(String(decoding: text[index..<index + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
