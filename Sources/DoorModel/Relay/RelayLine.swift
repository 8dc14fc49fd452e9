package import APNSModel
package import APNSServing
import Document

/// A request to a gateway, as a recipient of the spool or, if it is a broadcast, as a job of its own.
package struct RelayLine {
    private let reading: RequestReading
    private let id: NotificationID
    private let topic: String?
    private let recordsAll: Bool

    /// Creates the line of a request.
    ///
    /// - Parameters:
    ///   - reading: Its head, without a fault.
    ///   - id: Its `apns-id`.
    ///   - topic: The topic to write; `nil` if the app adds it.
    ///   - recordsAll: Whether the feedback about a broadcast must have its acceptance, too.
    package init(_ reading: RequestReading, id: NotificationID, topic: String?, recordsAll: Bool = false) {
        (self.reading, self.id, self.topic, self.recordsAll) = (reading, id, topic, recordsAll)
    }

    /// Appends the line, without a line feed.
    ///
    /// Line feeds between the payload's tokens become spaces. The payload itself is not read: `RecipientCheck` must accept
    /// the line.
    ///
    /// - Parameters:
    ///   - body: The payload.
    ///   - line: The bytes to append to.
    /// - Returns: Where the payload is.
    package func append(_ body: ArraySlice<UInt8>, to line: inout [UInt8]) -> Range<Int> {
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
        if let expiry = reading.expiry {
            line.append(contentsOf: ",\"expiration\":".utf8)
            line.appendDecimal(Int(expiry))
        }
        if let collapseID = reading.collapseID { Self.appendText("collapse_id", collapseID, to: &line) }
        line.append(contentsOf: ",\"payload\":".utf8)
        let start = line.count
        line.append(contentsOf: Self.trimmed(body))
        for place in start..<line.count where line[place] == 0x0A || line[place] == 0x0D { line[place] = 0x20 }
        let end = line.count
        line.append(UInt8(ascii: "}"))
        return start..<end
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
