/// Text in columns, each as wide as its widest cell.
struct Table {
    /// The lines, without spaces at their ends.
    let lines: [String]

    /// Lays out a table.
    ///
    /// - Parameters:
    ///   - header: What is above each column.
    ///   - rows: The cells, as many in each row.
    ///   - rightAligned: The columns that stand to the right: numbers.
    init(header: [String], rows: [[String]], rightAligned: Set<Int> = []) {
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
