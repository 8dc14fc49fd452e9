import APNSModel
import ArgumentParser
import Configuration
import Document
import LinuxIO
import PushDaemon
import SpoolModel

/// The option for the spool, for commands that only read it.
struct SpoolOption: ParsableArguments {
    /// The hint if the spool cannot be read.
    static let hint = "check the spool's path, the app's name and the permissions"

    @OptionGroup var options: ConfigurationOption

    @Option(
        help: ArgumentHelp("The spool, instead of the one in the configuration.", valueName: "folder"),
        completion: .directory)
    var spool: String?

    /// The option as repeated in suggested commands, with a leading space.
    var repeated: String { spool.map { " --spool \(ShellWord.spelled($0))" } ?? options.repeated }

    /// The path of the spool.
    ///
    /// - Throws: `ExitCode`, after reporting the faults in the configuration.
    func path() throws -> String {
        try spool ?? ConfigurationLoader(path: options.config).places().daemon.spool
    }
}

extension Sequence where Element: Hashable {
    /// The distinct elements, in the order of their first occurrence.
    var once: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

/// Parses an option for a point in time.
enum TimeOption {
    /// Returns the time given by `text`; `nil` without a text.
    ///
    /// - Throws: `ValidationError`: the text is not a time.
    static func time(_ option: String, _ text: String?) throws -> WallTime? {
        guard let text else { return nil }
        do throws(TextFault) {
            return try SinceText.parse(text, now: WallTime(nanoseconds: WallClock.nanoseconds()))
        } catch {
            throw ValidationError("\(option): \(error.message); \(error.hint)")
        }
    }
}
