/// Cuts what comes over a control connection into lines, and holds no more than one that is allowed and one piece.
package struct ControlLines: Sendable {
    private var bytes: [UInt8] = []
    private var searchedCount = 0

    /// Creates an empty one.
    package init() {}

    /// Whether there is more than a line may have, and no end of it: nothing good can follow.
    package var isTooLong: Bool { searchedCount > ControlRequest.lineLimit }

    /// Takes a piece; the lines in what came before must have been taken out.
    package mutating func append(_ piece: ArraySlice<UInt8>) {
        bytes.append(contentsOf: piece)
    }

    /// Takes out the next whole line, without its line feed; `nil` when there is none, or when it is too long.
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
