/// The id of a broadcast channel, as Apple returns it in `apns-channel-id`: base64 text of 1 to 255 bytes, with padding
/// (Apple, "Sending channel management requests to APNs"). It is sent as it is written.
package struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The longest id in bytes. Apple names no limit.
    package static let byteLimit = 255

    /// The base64 text.
    package let text: String

    /// Creates an id from its text.
    ///
    /// - Returns: `nil` if it is not base64 (RFC 4648 §4) with padding, or too long.
    package init?(_ text: some StringProtocol) {
        let digits = text.utf8
        guard (1...Self.byteLimit).contains(digits.count), digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding < 3, digits.dropLast(padding).allSatisfy(Self.isDigit) else { return nil }
        self.text = String(text)
    }

    /// The base64 text.
    package var description: String { text }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
    }
}

/// What Apple keeps of a channel's broadcasts for devices that are offline. Fixed when the channel is created.
package enum MessageStoragePolicy: Int, CaseIterable, Hashable, Sendable {
    /// 0: nothing. A broadcast must have the expiration 0.
    case nothing = 0
    /// 1: the latest one, for at most 8 hours.
    case latest = 1
}

/// A broadcast channel of an app.
package struct BroadcastChannel: Hashable, Sendable {
    /// Its id.
    package let id: ChannelID
    /// What Apple stores; `nil` if that is not known.
    package let policy: MessageStoragePolicy?

    /// Creates a channel.
    package init(id: ChannelID, policy: MessageStoragePolicy? = nil) {
        (self.id, self.policy) = (id, policy)
    }
}
