/// The gateway's six-byte reply to a notification that it refuses, sent just before it closes the connection.
///
/// offset 0: command, always 8 · offset 1: status · offset 2: notification identifier, 4 bytes big-endian
package struct ErrorReply: Hashable, Sendable {
    /// The length of a reply, in bytes.
    package static let encodedByteCount = 6
    private static let command: UInt8 = 8

    /// The reason.
    package let status: Status
    /// The identifier that the sender gave the notification; 0 if the gateway could not determine it.
    package let identifier: UInt32

    /// Creates a reply.
    package init(status: Status, identifier: UInt32) {
        self.status = status
        self.identifier = identifier
    }

    /// Decodes the reply at the start of `bytes`.
    ///
    /// - Returns: `nil` when more bytes are needed.
    /// - Throws: `DecodingError.unexpectedCommand`. Treat it as a close without a reply.
    package init?(decoding bytes: Span<UInt8>) throws(DecodingError) {
        guard let command = bytes.isEmpty ? nil : bytes[0] else { return nil }
        guard command == Self.command else { throw .unexpectedCommand(command) }
        guard bytes.count >= Self.encodedByteCount else { return nil }
        self.status = Status(rawValue: bytes[1])
        self.identifier = bytes.bigEndianUInt32(at: 2)
    }

    /// Appends the six bytes.
    package func encode(to bytes: inout [UInt8]) {
        bytes.append(Self.command)
        bytes.append(status.rawValue)
        bytes.append(bigEndian: identifier)
    }
}
