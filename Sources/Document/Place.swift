/// A position in a user's file, counted as editors and compilers do.
package struct Place: Sendable, Hashable, Comparable {
    /// The line, from 1; a line ends at a line feed.
    package var line: Int
    /// The column in bytes, from 1; a byte order mark at the start of the file does not count.
    package var column: Int

    /// Creates a position.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Whether the left position comes before the right one in the file.
    package static func < (left: Place, right: Place) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
