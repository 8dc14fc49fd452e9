import Document

/// A command that gets an app's feedback on its standard input.
package struct Hook: Hashable, Sendable {
    /// The program and its arguments.
    package let arguments: [String]
    /// How long it may take for a file.
    package var timeout = Duration.seconds(60)

    /// A line for the shell, as in crontab(5).
    package init(line: String) {
        arguments = ["/bin/sh", "-c", line]
    }

    /// A program, found by PATH unless its name has a slash, and its arguments.
    package init(arguments: [String]) {
        self.arguments = arguments
    }

    /// The variables that a hook inherits, besides the locale's (`LC_*`).
    private static let inheritedNames: Set<String> = [
        "PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LOGNAME",
    ]

    /// Returns what a hook inherits of an environment of `NAME=value` each: how to find programs and files, and how to write
    /// text. Everything else stays with the daemon: it may be secret, or meant for the service itself (`NOTIFY_SOCKET`,
    /// `CREDENTIALS_DIRECTORY`, `LISTEN_FDS`).
    package static func inherited(of environment: [String]) -> [String] {
        environment.filter { setting in
            let name = String(setting.prefix { $0 != "=" })
            return inheritedNames.contains(name) || name.hasPrefix("LC_")
        }
    }
}

extension Fields {
    /// A hook: a line for the shell, or a sequence of a program and its arguments.
    mutating func hook(_ key: String) -> Hook? {
        guard let value = value(key) else { return nil }
        let words = value.kind == .sequence ? strings(key) ?? [] : [string(key) ?? ""]
        let hint = "write a line for the shell, or a sequence of a program and its arguments"
        guard let program = words.first, !program.isEmpty else {
            refuse(key, "names no program", hint: hint)
            return nil
        }
        guard words.allSatisfy({ !$0.utf8.contains(0) }) else {
            refuse(key, "has a NUL in it", hint: hint)
            return nil
        }
        return value.kind == .sequence ? Hook(arguments: words) : Hook(line: program)
    }
}
