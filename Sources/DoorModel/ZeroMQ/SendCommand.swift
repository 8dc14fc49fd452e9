import APNSModel
import Document
package import PushModel

/// The command `send`: a payload for some devices.
package struct SendCommand: Hashable, Sendable {
    /// The length of a token in bytes.
    private static let tokenByteCount = 32

    /// The tokens, one after the other.
    private let tokens: [UInt8]
    /// How long the gateway tries to deliver.
    package let expiration: Expiration
    /// The payload as the client wrote it, in UTF-8: a JSON object, or else the text of an alert.
    package let payload: [UInt8]

    /// How many devices get the payload, at least 1. Each has a notification, with an id of its own.
    package var count: Int { tokens.count / Self.tokenByteCount }

    /// Whether the payload must be a JSON object.
    var isObject: Bool { payload.first == UInt8(ascii: "{") }

    /// Reads what follows the verb.
    init(_ words: inout CommandWords, at now: WallTime) throws(CommandFault) {
        guard let expiry = words.next(), let number = words.next() else { throw .incomplete }
        expiration = try Self.expiration(expiry, at: now)
        guard let count = Int(String(decoding: number.prefix(20), as: UTF8.self)), count > 0, number.count <= 20 else {
            throw .badNumber(Array(number))
        }
        var tokens: [UInt8] = []
        for _ in 0..<count {
            // Each token is looked at before the next one is, so a number too great costs nothing.
            guard let token = words.next() else { throw .incomplete }
            try Self.append(token, to: &tokens)
        }
        guard !words.rest.isEmpty else { throw .incomplete }
        guard String(validating: words.rest, as: UTF8.self) != nil else { throw .notUTF8 }
        (self.tokens, payload) = (tokens, Array(words.rest))
    }

    /// Reads seconds since 1970, or from `now` on behind a plus sign. A time that has passed asks for a single attempt.
    private static func expiration(_ text: ArraySlice<UInt8>, at now: WallTime) throws(CommandFault) -> Expiration {
        let isRelative = text.first == UInt8(ascii: "+")
        let digits = isRelative ? text.dropFirst() : text
        guard digits.count <= 20, digits.first != UInt8(ascii: "+"),
            let seconds = Int64(String(decoding: digits, as: UTF8.self))
        else { throw .badExpiry(Array(text)) }
        let (time, isBeyond) = seconds.addingReportingOverflow(isRelative ? now.epochSeconds : 0)
        guard !isBeyond, time <= Int64(UInt32.max) else { throw .badExpiry(Array(text)) }
        return Expiration(requested: time, at: now)
    }

    /// Appends a token of 64 hexadecimal digits, or one of any other length in base64.
    private static func append(_ word: ArraySlice<UInt8>, to tokens: inout [UInt8]) throws(CommandFault) {
        if word.count == 2 * tokenByteCount {
            let start = tokens.count
            guard case .success = TokenSpelling.append(word.span, to: &tokens), tokens.count - start == tokenByteCount
            else { throw .badHexadecimal(Array(word)) }
            return
        }
        guard let token = Base64.standard.decode(word) else { throw .badBase64(Array(word)) }
        guard token.count == tokenByteCount else { throw .badTokenLength(token.count, Array(word)) }
        tokens += token
    }

    /// Appends the job of the command as a JSON document, which the daemon still has to judge: the payload may not be JSON, or
    /// be too long.
    ///
    /// A payload that begins with `{` is handed on as text, so that nothing in it can become a key of the job.
    package func appendJob(to bytes: inout [UInt8]) {
        var writer = JSONWriter(appendingTo: bytes)
        bytes = []
        writer.beginObject()
        writer.key("tokens")
        writer.beginArray()
        for start in stride(from: 0, to: tokens.count, by: Self.tokenByteCount) {
            writer.string { $0.appendHexadecimal(tokens[start..<start + Self.tokenByteCount]) }
        }
        writer.endArray()
        writer.key("expiration")
        writer.integer(Int(expiration.epochSeconds))
        writer.key(isObject ? "payload" : "alert")
        writer.string(utf8: payload[...])
        writer.endObject()
        bytes = writer.bytes
    }
}
