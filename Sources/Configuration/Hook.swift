import Document
import LinuxIO

/// A command that receives an app's feedback on its standard input.
package struct Hook: Hashable, Sendable {
    /// The program and its arguments.
    package let arguments: [String]
    /// How long the command may run for one file.
    package var timeout = Duration.seconds(60)

    /// Creates a hook from a line for the shell, as in crontab(5).
    package init(line: String) {
        arguments = ["/bin/sh", "-c", line]
    }

    /// Creates a hook from a program and its arguments. The program is looked up in PATH unless its name contains a
    /// slash.
    package init(arguments: [String]) {
        self.arguments = arguments
    }

    /// A warning if the program evidently cannot be started. For a line for the shell this checks only an absolute path
    /// at its beginning. Not an error, since the program may be installed by the time it is needed.
    var fault: Diagnostic? {
        var program = arguments[0]
        if arguments.count == 3, arguments[0] == "/bin/sh", arguments[1] == "-c" {
            program = String(arguments[2].prefix { !" \t\n;|&<>()$`\\\"'*?[#~=%".contains($0) })
            guard program.hasPrefix("/") else { return nil }
        }
        guard !ProgramPath.finds(program) else { return nil }
        return Diagnostic(
            "\(Diagnostic.quoted(program)) is not a program that this user can run",
            hint: "give the path of a program that the daemon's user can execute", severity: .warning
        ).about("hook")
    }

    /// The variables that a hook inherits, in addition to the locale (`LC_*`).
    private static let inheritedNames: Set<String> = [
        "PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LOGNAME",
    ]

    /// Returns the part of an environment (`NAME=value` each) that a hook inherits: variables for finding programs and
    /// files, and for writing text. All others may be secret, or meant for the service itself (`NOTIFY_SOCKET`,
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
        sketch(key, .any([.scalar(), .list(.scalar(), isNonEmpty: true)]))
        guard let value = value(key) else { return nil }
        let words = value.kind == .sequence ? strings(key) ?? [] : [string(key) ?? ""]
        let hint = "write a shell command line, or a sequence of a program and its arguments"
        guard let program = words.first, !program.isEmpty else {
            refuse(key, "names no program", hint: hint)
            return nil
        }
        guard words.allSatisfy({ !$0.utf8.contains(0) }) else {
            refuse(key, "contains a NUL", hint: hint)
            return nil
        }
        return value.kind == .sequence ? Hook(arguments: words) : Hook(line: program)
    }
}
