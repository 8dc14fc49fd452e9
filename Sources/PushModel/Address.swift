package import APNSModel
import Document

/// What a notification is sent to: a device, or all who have subscribed to something.
///
/// A batch has one kind of address, and stores only the bytes of each. Two addresses are the same if kind and bytes are.
package struct Address: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What the bytes of an address are, and who is reached with it. A gateway serves some kinds; this is the list of all.
    package enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        /// A device token of Apple's: its bytes.
        case deviceToken
        /// A broadcast channel of Apple's: its id, which is base64 text.
        case channel

        /// The key of such an address in job files and feedback lines.
        package var key: String {
            switch self {
            case .deviceToken: "token"
            case .channel: "channel"
            }
        }

        /// Whether one address may reach many devices. It cannot be gone from one of them, and a repetition reaches them all.
        package var isShared: Bool {
            switch self {
            case .deviceToken: false
            case .channel: true
            }
        }

        /// Appends an address as it stands in feedback lines. Needs no escapes in JSON.
        package func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
            switch self {
            case .deviceToken: text.appendHexadecimal(bytes)
            case .channel: text.append(contentsOf: bytes)
            }
        }
    }

    /// What the bytes are.
    package let kind: Kind
    /// The bytes that a batch stores.
    package let bytes: [UInt8]

    /// Creates an address from the bytes that a batch stores.
    package init(_ kind: Kind, _ bytes: ArraySlice<UInt8>) {
        (self.kind, self.bytes) = (kind, Array(bytes))
    }

    /// Creates the address of a device.
    package init(_ token: DeviceToken) {
        (kind, bytes) = (.deviceToken, token.bytes)
    }

    /// Creates the address of a channel's subscribers.
    package init(_ channel: ChannelID) {
        (kind, bytes) = (.channel, Array(channel.text.utf8))
    }

    /// Appends the address as it stands in feedback lines; never for logs.
    package func append(to text: inout [UInt8]) {
        kind.append(bytes[...], to: &text)
    }

    /// The first four bytes in hexadecimal and an ellipsis: a whole address in a log is personal data.
    package var description: String { "\(DeviceToken(bytes: bytes))" }

    /// The same as `description`, so that a dump shows no more than a log.
    package var debugDescription: String { description }
}
