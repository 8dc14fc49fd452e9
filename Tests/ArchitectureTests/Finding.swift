/// Something a check objects to, printed as an editor can jump to it: `path:line: message`.
struct Finding: Equatable, CustomStringConvertible {
    /// The file, relative to the top of the checkout.
    let path: String
    /// The line, from 1.
    let line: Int
    /// What is wrong, and what would be right.
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

extension [Finding] {
    /// All findings for the message of one failed test, one a line.
    var report: String {
        "\(count) findings\n" + map(\.description).joined(separator: "\n")
    }
}
