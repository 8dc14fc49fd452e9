/// Bytes that violate the binary protocol.
package enum DecodingError: Error, Hashable, Sendable {
    /// The first byte of a notification is not 0, 1 or 2, or that of a reply is not 8.
    case unexpectedCommand(UInt8)
    /// A frame's declared length exceeds every valid one, so its content is not read into memory.
    case frameTooLong(UInt32)
    /// A frame's items do not add up to its length, have a wrong length, or are missing or duplicated. The identifier
    /// is known if it came before the error.
    case malformedItems(identifier: UInt32?)
}
