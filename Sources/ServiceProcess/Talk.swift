import LinuxIO

extension Int {
    /// The number with its noun: `1 job`, `2 jobs`.
    package func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

/// Prints data to standard output, and messages to standard error.
package enum Talk {
    /// Prints a line of data.
    package static func say(_ line: String) {
        say(Array((line + "\n").utf8))
    }

    /// Prints data. A failure is reported once, and the command continues; see `StandardStream.hasLostOutput`.
    package static func say(_ bytes: [UInt8]) {
        guard let error = StandardStream.print(bytes) else { return }
        let hint = error.isOutOfSpace ? "free some space" : "check where standard output goes"
        complain("the output is incomplete: \(error)", hint: hint)
    }

    /// Prints a line of information or an error.
    package static func note(_ line: String) {
        StandardStream.error.write(Array((line + "\n").utf8))
    }

    /// The name by which the program was called.
    private static let program = CommandLine.arguments.first.map { FilePlace($0).name } ?? "pushspool"

    /// Prints an error in the use of the command line, as any other: a parser's sentence begins with a capital and ends
    /// with a full stop.
    ///
    /// - Parameters:
    ///   - message: what is wrong.
    ///   - words: the program and the command that it is about.
    package static func complain(ofUsage message: String, words: [String]) {
        var text = message[...]
        if text.hasSuffix("."), !text.dropLast().contains(".") { text = text.dropLast() }
        let first = text.first.map { text.dropFirst().first?.isLowercase == true ? $0.lowercased() : String($0) } ?? ""
        complain(first + text.dropFirst(), hint: "see: \((words + ["--help"]).joined(separator: " "))")
    }

    /// Prints an error and its hint.
    package static func complain(_ message: String, hint: String?) {
        note("\(program): \(message)")
        if let hint { note("hint: \(hint)") }
    }
}
