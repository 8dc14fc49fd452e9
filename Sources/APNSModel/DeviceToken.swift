/// Names one app on one device, as the gateway knows it: 1 to 100 bytes.
///
/// Printing a token shows its first four bytes only: a whole token in a log is personal data.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The most bytes a token may have (Apple's limit for command 2 of the binary protocol).
    package static let maximumByteCount = 100

    /// The bytes as they go over the wire.
    package let bytes: [UInt8]

    /// Creates a token from its bytes, any number of them: a peer's tuple may even name none.
    package init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Creates a token as users spell it: hexadecimal in any case with `<`, `>` and spaces, or base64.
    ///
    /// - Returns: `nil` when `TokenSpelling` finds a fault.
    package init?(_ spelling: String) {
        var bytes: [UInt8] = []
        guard case .success = TokenSpelling.append(Array(spelling.utf8).span, to: &bytes) else { return nil }
        self.bytes = bytes
    }

    /// The whole token in lowercase hexadecimal. For feedback files; never for logs.
    package var hex: String { String(spelledBy: appendHex) }

    /// Appends the digits of `hex`. For feedback files; never for logs.
    package func appendHex(to text: inout [UInt8]) {
        text.appendHexadecimal(bytes[...])
    }

    /// The first four bytes in hexadecimal and an ellipsis.
    package var description: String {
        DeviceToken(bytes: bytes.prefix(4)).hex + "…"
    }

    /// The same as `description`: a dump shows no more than a log.
    package var debugDescription: String { description }
}
