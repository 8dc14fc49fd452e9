import LinuxIO

extension Int {
    /// `1 job`, `2 jobs`.
    func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

/// Prints data to standard output and talk to standard error.
enum Talk {
    /// Prints a line of data.
    static func say(_ line: String) {
        say(Array((line + "\n").utf8))
    }

    /// Prints data. If that fails, this is said once, and what was begun goes on; see `StandardStream.hasLostOutput`.
    static func say(_ bytes: [UInt8]) {
        guard let error = StandardStream.print(bytes) else { return }
        let hint = error.isOutOfSpace ? "free some space" : "see where standard output goes"
        complain("not all was printed: \(error)", hint: hint)
    }

    /// Prints a line about what is going on, or what went wrong.
    static func note(_ line: String) {
        StandardStream.error.write(Array((line + "\n").utf8))
    }

    /// Prints an error and its remedy.
    static func complain(_ message: String, hint: String?) {
        note("pushspool: \(message)")
        if let hint { note("hint: \(hint)") }
    }
}
