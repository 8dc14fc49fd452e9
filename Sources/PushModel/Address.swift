package import APNSModel
import Document

/// What a notification is sent to: a device, or all who have subscribed to something.
///
/// A batch has one kind of address, and stores only the bytes of each. Two addresses are the same if kind and bytes are.
package struct Address: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What the bytes of an address are, and who is reached with it. A gateway serves some kinds; this is the list of all.
    ///
    /// The raw values stand in files of the daemon's state.
    package enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        /// A device token of Apple's: its bytes.
        case deviceToken = 0
        /// A broadcast channel of Apple's: its id, which is base64 text.
        case channel = 1
        /// A registration token of FCM's: its text, whose case matters.
        case registrationToken = 2
        /// A Firebase installation: its id, which is text.
        case installation = 3
        /// A topic of FCM's: its name, without `/topics/`.
        case topic = 4
        /// A condition over topics of FCM's: its text.
        case condition = 5

        /// The key of such an address in job files and feedback lines.
        package var key: String {
            switch self {
            case .deviceToken, .registrationToken: "token"
            case .channel: "channel"
            case .installation: "fid"
            case .topic: "topic"
            case .condition: "condition"
            }
        }

        /// Whether one address may reach many devices. It cannot be gone from one of them, and a repetition reaches them all.
        package var isShared: Bool {
            switch self {
            case .deviceToken, .registrationToken, .installation: false
            case .channel, .topic, .condition: true
            }
        }

        /// Whether notifications to such addresses have an id of ours, `apns-id`. FCM takes none.
        package var takesID: Bool {
            switch self {
            case .deviceToken, .channel: true
            case .registrationToken, .installation, .topic, .condition: false
            }
        }

        /// Appends an address as it stands in feedback lines. Needs no escapes in JSON.
        package func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
            switch self {
            case .deviceToken: text.appendHexadecimal(bytes)
            case .channel, .registrationToken, .installation, .topic, .condition: text.append(contentsOf: bytes)
            }
        }

        /// The most bytes that an address of this kind has.
        package var byteLimit: Int {
            switch self {
            case .deviceToken: DeviceToken.maximumByteCount
            case .channel: ChannelID.byteLimit
            case .registrationToken, .installation, .topic, .condition: 1024
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

    /// The first four bytes, in hexadecimal if they are no text, and an ellipsis: a whole address in a log is personal data.
    package var description: String {
        let beginning = Address(kind, bytes.prefix(4))
        return String(spelledBy: beginning.append) + "…"
    }

    /// The same as `description`, so that a dump shows no more than a log.
    package var debugDescription: String { description }
}
