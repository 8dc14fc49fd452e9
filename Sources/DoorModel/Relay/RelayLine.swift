import APNSModel
package import APNSServing
import Document
package import PushModel

/// A request to a gateway, as a recipient of the spool or, if it is a broadcast, as a job of its own.
package struct RelayLine {
    private let reading: RequestReading
    private let id: NotificationID
    private let topic: String?
    /// When it expires; `nil`: as the daemon chooses.
    private let expiration: Expiration?
    /// Whether the feedback about a broadcast must have its acceptance, too.
    package var recordsAll = false

    /// Creates the line of a request.
    ///
    /// - Parameters:
    ///   - reading: Its head, without a fault.
    ///   - id: Its `apns-id`.
    ///   - topic: The topic to write; `nil` if the app adds it.
    ///   - now: The time after which an expiration has not passed yet.
    package init(_ reading: RequestReading, id: NotificationID, topic: String?, at now: WallTime) {
        (self.reading, self.id, self.topic) = (reading, id, topic)
        expiration = reading.expiry.map { Expiration(requested: Int64($0), at: now) }
    }

    /// Appends the line, without a line feed.
    ///
    /// Line feeds between the payload's tokens become spaces. The payload itself is not read: `RecipientCheck` must accept
    /// the line.
    ///
    /// - Parameters:
    ///   - body: The payload.
    ///   - line: The bytes to append to.
    /// - Returns: Where the payload is; `nil` if a line feed is within a text, where JSON forbids it.
    package func append(_ body: ArraySlice<UInt8>, to line: inout [UInt8]) -> Range<Int>? {
        if reading.purpose == .notification {
            line.append(contentsOf: "{\"token\":\"".utf8)
            line.appendHexadecimal(reading.token[...])
        } else {
            line.append(contentsOf: recordsAll ? "{\"record\":\"all\",\"channel\":\"".utf8 : "{\"channel\":\"".utf8)
            line.append(contentsOf: reading.token)
        }
        line.append(contentsOf: "\",\"apns_id\":\"".utf8)
        id.append(to: &line)
        line.append(UInt8(ascii: "\""))
        if let topic { Self.appendText("topic", Array(topic.utf8)[...], to: &line) }
        if let type = reading.pushType {
            line.append(contentsOf: ",\"push_type\":\"".utf8)
            line.append(contentsOf: type.rawValue.utf8)
            line.append(UInt8(ascii: "\""))
        }
        if let priority = reading.priority {
            line.append(contentsOf: ",\"priority\":".utf8)
            line.appendDecimal(Int(priority))
        }
        if let expiration {
            line.append(contentsOf: ",\"expiration\":".utf8)
            line.appendDecimal(Int(expiration.epochSeconds))
        }
        if let collapseID = reading.collapseID { Self.appendText("collapse_id", collapseID, to: &line) }
        line.append(contentsOf: ",\"payload\":".utf8)
        let start = line.count
        line.append(contentsOf: Self.trimmed(body))
        guard Self.joinLines(&line, from: start) else { return nil }
        let end = line.count
        line.append(UInt8(ascii: "}"))
        return start..<end
    }

    /// Makes spaces of the line feeds between tokens of JSON. Returns whether no text has one.
    private static func joinLines(_ json: inout [UInt8], from start: Int) -> Bool {
        guard json[start...].contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return true }
        var (isText, isEscaped) = (false, false)
        for place in start..<json.count {
            switch json[place] {
            case 0x0A, 0x0D:
                if isText { return false }
                json[place] = 0x20
            case UInt8(ascii: "\\"):
                isEscaped.toggle()
                continue
            case UInt8(ascii: "\"") where !isEscaped: isText.toggle()
            default: break
            }
            isEscaped = false
        }
        return true
    }

    /// Appends a member whose text came over the wire.
    private static func appendText(_ key: String, _ text: ArraySlice<UInt8>, to line: inout [UInt8]) {
        var writer = JSONWriter(appendingTo: line)
        line = []
        writer.bytes.append(UInt8(ascii: ","))
        writer.key(key)
        writer.string(utf8: text)
        line = writer.bytes
    }

    private static func trimmed(_ body: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let last = body.lastIndex(where: { !isSpace($0) }) else { return [] }
        return body[...last].drop(while: isSpace)
    }
}
