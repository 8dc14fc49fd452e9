/// A position in a user's file, as editors and compilers count it.
package struct Place: Sendable, Hashable, Comparable {
    /// The line, from 1; a line ends at a line feed.
    package var line: Int
    /// The column in bytes, from 1; a byte order mark at the start of the file does not count.
    package var column: Int

    /// Names a position.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Tells whether the left position comes before the right one in the file.
    package static func < (left: Place, right: Place) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
