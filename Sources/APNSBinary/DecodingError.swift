/// Bytes that no peer who keeps to the binary protocol would send.
package enum DecodingError: Error, Hashable, Sendable {
    /// A notification's first byte is none of 0, 1 and 2, or a reply's is not 8.
    case unexpectedCommand(UInt8)
    /// A frame says that it is longer than any valid one, so nothing is read into memory for it.
    case frameTooLong(UInt32)
    /// A frame's items do not add up to its length, are of a wrong length, missing or doubled. The identifier is known
    /// if it came before the fault.
    case malformedItems(identifier: UInt32?)
}
