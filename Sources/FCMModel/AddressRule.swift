import Document

/// The syntax of an address of FCM's that is one word. A condition has a type of its own, ``TopicCondition``.
///
/// Check addresses before they are sent: FCM answers a malformed installation ID with UNREGISTERED, as if the app had been
/// removed from the device.
package enum AddressRule: Sendable {
    /// A registration token. Google documents neither length nor characters; today's have 142 to 163: the installation's ID, a
    /// colon, and characters of base64url.
    case registrationToken
    /// A Firebase installation ID, or FID: 17 bytes in base64url without padding.
    case installation
    /// The name of a topic, without `/topics/` (<https://firebase.google.com/docs/cloud-messaging/send-topic-messages>).
    case topic

    /// The reason why a text is no such address.
    package enum Fault: Error, Hashable, Sendable {
        /// The text has no characters.
        case empty
        /// The text has this many bytes, too few or too many.
        case length(Int)
        /// A character that is not allowed, the first such; its place counts characters from 1.
        case stray(Unicode.Scalar, place: Int)
    }

    /// How many bytes such an address has.
    package var lengths: ClosedRange<Int> {
        switch self {
        case .registrationToken: 20...1024
        case .installation: 22...22
        case .topic: 1...900
        }
    }

    /// The characters apart from letters and digits, for messages.
    package var otherCharacters: String {
        switch self {
        case .registrationToken: ":-_"
        case .installation: "-_"
        case .topic: "-_.~%"
        }
    }

    /// Returns why a text is no such address; `nil` if it may be one. Costs O(*n*), and allocates nothing for an address.
    package func fault(of text: Span<UInt8>) -> Fault? {
        if lengths.contains(text.count), isPlain(text) { return nil }
        guard !text.isEmpty else { return .empty }
        for index in text.indices where !allows(text[index]) {
            return .stray(FieldText.scalar(in: text, at: index), place: FieldText.place(in: text, of: index))
        }
        return lengths.contains(text.count) ? nil : .length(text.count)
    }

    /// Whether a text is 64 hexadecimal digits, as the device tokens of Apple's are often written.
    package static func isLikeDeviceToken(_ text: Span<UInt8>) -> Bool {
        guard text.count == 64 else { return false }
        for index in text.indices where hexValue(text[index]) == nil { return false }
        return true
    }

    /// Whether a text has only the characters that nearly all addresses have. Without branches, so that the compiler
    /// vectorizes the loop: twenty times as fast.
    private func isPlain(_ text: Span<UInt8>) -> Bool {
        // The colon follows the digits.
        let digits: UInt8 = self == .registrationToken ? 11 : 10
        var faults: UInt8 = 0
        for index in text.indices {
            let byte = text[index]
            let letter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 26 ? 0 : 1
            let digit: UInt8 = byte &- UInt8(ascii: "0") < digits ? 0 : 1
            let mark: UInt8 = (byte == UInt8(ascii: "-") ? 0 : 1) & (byte == UInt8(ascii: "_") ? 0 : 1)
            faults |= letter & digit & mark
        }
        return faults == 0
    }

    private func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        case UInt8(ascii: ":"): self == .registrationToken
        case UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"): self == .topic
        default: false
        }
    }
}
