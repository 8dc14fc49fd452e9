import Document

/// A device token, which identifies one app on one device: 1 to 100 bytes.
///
/// Printing a token shows only its first four bytes, because a complete token in a log is personal data.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The maximum length of a token in bytes (Apple's limit for command 2 of the binary protocol).
    package static let maximumByteCount = 100

    /// The bytes sent to the gateway.
    package let bytes: [UInt8]

    /// Creates a token from any number of bytes; even an empty one may occur in a peer's tuple.
    package init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Creates a token from user input: hexadecimal in any case with `<`, `>` and spaces, or base64.
    ///
    /// - Returns: `nil` if `TokenSpelling` finds a fault.
    package init?(_ spelling: String) {
        var bytes: [UInt8] = []
        guard case .success = TokenSpelling.append(Array(spelling.utf8).span, to: &bytes) else { return nil }
        self.bytes = bytes
    }

    /// The complete token in lowercase hexadecimal. For feedback files; never for logs.
    package var hex: String { String(spelledBy: appendHex) }

    /// Appends the digits of `hex`. For feedback files; never for logs.
    package func appendHex(to text: inout [UInt8]) {
        text.appendHexadecimal(bytes[...])
    }

    /// The first four bytes in hexadecimal and an ellipsis.
    package var description: String {
        DeviceToken(bytes: bytes.prefix(4)).hex + "…"
    }

    /// The same as `description`, so that a dump shows no more than a log.
    package var debugDescription: String { description }
}
