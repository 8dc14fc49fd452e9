import APNSModel
import ArgumentParser
import Document
import LinuxIO
import PushDaemon
import SpoolModel

/// Where the spool is, for commands that only read it.
struct SpoolOption: ParsableArguments {
    /// What to do when it cannot be read.
    static let hint = "check the spool's path, the app's name, and the permissions"

    @OptionGroup var options: ConfigurationOption

    @Option(
        help: ArgumentHelp("The spool; instead of the configuration's.", valueName: "folder"), completion: .directory)
    var spool: String?

    /// What a command that is proposed must say of it, a space in front.
    var repeated: String { spool.map { " --spool \($0)" } ?? options.repeated }

    /// Its path.
    ///
    /// - Throws: `ExitCode`, after it was said what is wrong with the configuration.
    func path() throws -> String {
        try spool ?? ConfigurationLoader(path: options.config).daemon().spool
    }
}

extension Sequence where Element: Hashable {
    /// Each element once, where it comes first.
    var once: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

/// Names of jobs or apps on the command line; `-` stands for those on standard input, a line each.
enum NameArguments {
    private static let byteLimit = 64 << 20

    /// All names, each once.
    ///
    /// - Throws: `ExitCode`, after it was said that standard input is too long; `SystemError` when it cannot be read.
    static func all(of arguments: [String]) throws -> [String] {
        var names: [String] = []
        for argument in arguments {
            if argument == "-" { names += try readLines() } else { names.append(argument) }
        }
        return names.once
    }

    private static func readLines() throws -> [String] {
        let bytes = try StandardStream.input.readToEnd(limit: byteLimit)
        guard bytes.count <= byteLimit else {
            Talk.complain("standard input has more than 64 MiB of names", hint: "give them in parts")
            throw ExitCode.badInput
        }
        return bytes.split { $0 == 0x0A || $0 == 0x0D }.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A point in time that an option names.
enum TimeOption {
    /// The time that `text` names, or `nil` for no text.
    ///
    /// - Throws: `ValidationError`: it names none.
    static func time(_ option: String, _ text: String?) throws -> WallTime? {
        guard let text else { return nil }
        do throws(TextFault) {
            return try SinceText.parse(text, now: WallTime(nanoseconds: WallClock.nanoseconds()))
        } catch {
            throw ValidationError("\(option): \(error.message); \(error.hint)")
        }
    }
}
