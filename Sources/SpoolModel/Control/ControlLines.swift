/// Splits the bytes of a control connection into lines. Holds at most one line of the allowed length plus one piece.
package struct ControlLines: Sendable {
    private var bytes: [UInt8] = []
    private var searchedCount = 0

    /// Creates an empty buffer.
    package init() {}

    /// Whether more bytes than a line may have arrived without a line feed. The caller can only close the connection then.
    package var isTooLong: Bool { searchedCount > ControlRequest.lineLimit }

    /// Appends a piece. The caller must have taken out all lines of the earlier pieces.
    package mutating func append(_ piece: ArraySlice<UInt8>) {
        bytes.append(contentsOf: piece)
    }

    /// Removes and returns the next complete line, without its line feed; `nil` if there is none or it is too long.
    package mutating func next() -> [UInt8]? {
        guard let end = bytes[searchedCount...].firstIndex(of: UInt8(ascii: "\n")) else {
            searchedCount = bytes.count
            return nil
        }
        guard end <= ControlRequest.lineLimit else {
            searchedCount = end
            return nil
        }
        let line = Array(bytes[..<end])
        bytes.removeFirst(end + 1)
        searchedCount = 0
        return line
    }
}
