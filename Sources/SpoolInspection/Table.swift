/// Text in columns, each as wide as its widest cell.
package struct Table {
    /// The lines, without trailing spaces.
    package let lines: [String]

    /// Lays out a table.
    ///
    /// - Parameters:
    ///   - header: The headings of the columns.
    ///   - rows: The cells, one for each column in each row.
    ///   - rightAligned: The columns to align right, such as numbers.
    package init(header: [String], rows: [[String]], rightAligned: Set<Int> = []) {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        lines = all.map { row in
            let cells = row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return rightAligned.contains(column) ? space + row[column] : row[column] + space
            }
            let line = cells.joined(separator: "  ")
            return String(line.prefix(through: line.lastIndex { $0 != " " } ?? line.startIndex))
        }
    }
}
