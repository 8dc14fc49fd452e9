import ArgumentParser
import CommandProgram
import Configuration
import Document
import LinuxIO
import PushModel
import ServiceProcess
import SpoolInspection
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

extension OutputBuffer {
    /// Runs a command that prints. All output of `body` is written before the command ends; otherwise the command
    /// fails.
    ///
    /// - Throws: `ExitCode` if reading or writing failed, after reporting the error with `hint`; all other errors of
    ///   `body`. A closed pipe is not an error.
    static func printing(hint: String, _ body: (inout OutputBuffer) throws -> Void) throws {
        var output = OutputBuffer()
        do {
            try body(&output)
            try output.flush()
        } catch let error as SystemError {
            try complain(of: error, hint)
        }
    }

    private static func complain(of error: SystemError, _ hint: String) throws {
        if error.isBrokenPipe { return }
        Talk.complain("\(error)", hint: error.isOutOfSpace ? "free some space, and run the command again" : hint)
        throw ExitCode.badInput
    }
}
