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
    var repeated: String { spool.map { " --spool \(ShellWord.spelled($0))" } ?? options.repeated }

    /// Its path.
    ///
    /// - Throws: `ExitCode`, after it was said what is wrong with the configuration.
    func path() throws -> String {
        try spool ?? ConfigurationLoader(path: options.config).places().daemon.spool
    }
}

extension Sequence where Element: Hashable {
    /// Each element once, where it comes first.
    var once: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
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
