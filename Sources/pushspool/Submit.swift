import ArgumentParser
import CommandProgram
import Configuration
import Document
import JobFormat
import LinuxIO
import PushModel
import ServiceProcess
import SpoolClient
import SpoolInspection
import SpoolModel

/// The command `pushspool submit`.
struct Submit: AsyncParsableCommand {
    /// The format of standard input.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json, yaml, jsonl
    }

    static let configuration = CommandConfiguration(
        abstract: "Drop complete, synced jobs into an app's new/.",
        discussion: """
            Writes each file to <spool>/<app>/tmp/, syncs it, renames it into new/ under a unique name, and prints the name. \
            With --wait, prints the result and exits with 0 if everything was accepted, 65 if not, and 69 if a job is dropped \
            and has not finished in time, or cannot be sent now; it exits with 75 if a job is not dropped. With --json, prints an object for each dropped job, and with --wait another one for each \
            finished job.

            Example: echo '{"token": "740f…78ad", "alert": "Hi"}' | pushspool submit --app weather --wait -
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(
        help: ArgumentHelp("The spool, instead of the one in the configuration.", valueName: "folder"),
        completion: .directory)
    var spool: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The app.", valueName: "name"))
    var app: String

    @Flag(name: .shortAndLong, help: "Wait until the jobs have finished.")
    var wait = false

    @Option(help: ArgumentHelp("How long to wait at most: 30 or 30s, 5m.", valueName: "duration"))
    var timeout = TimeLimit(seconds: 300)

    @Option(help: ArgumentHelp("The format of standard input: json, yaml or jsonl.", valueName: "format"))
    var format = Format.json

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Argument(help: ArgumentHelp("Job files; - reads standard input.", valueName: "file"), completion: .file())
    var files: [String]

    func validate() throws {
        guard AppName.isValid(app) else {
            throw ValidationError("--app: invalid app name `\(app)`; use the name of its folder in the spool.")
        }
        guard timeout.seconds <= 31_536_000 else { throw ValidationError("--timeout takes 0 to 31536000 seconds.") }
    }

    func run() async throws {
        let (folder, names) = try drop()
        guard wait else { return }
        do {
            try await awaitEnd(of: names, in: folder)
        } catch let error as SpoolClientError {
            Talk.complain("the jobs are dropped, but \(error.message)", hint: error.hint)
            throw ExitCode.fateUnknown
        }
    }

    /// Drops the jobs, and prints their names. If one of several fails, those before it are dropped.
    private func drop() throws -> (folder: String, names: [String]) {
        var names: [String] = []
        do {
            let folder = try spool ?? ConfigurationLoader(path: options.config).places().daemon.spool
            let submission = try Submission(app: app, spool: folder)
            for file in files {
                let name = try submission.submit(try content(of: file), name: jobName(of: file))
                if json { Talk.say(line(name, "waiting")) } else { Talk.say(name) }
                names.append(name)
            }
            return (folder, names)
        } catch {
            let code = try complain(error)
            guard !names.isEmpty else { throw code }
            let are = names.count == 1 ? "is" : "are"
            Talk.complain(
                "\(names.count) of \(files.count) jobs \(are) dropped, as printed", hint: "do not drop them again")
            throw ExitCode.fateUnknown
        }
    }

    /// Prints why a job is not dropped, unless that has been printed, and returns the exit code.
    private func complain(_ error: any Error) throws -> ExitCode {
        switch error {
        case let error as SpoolClientError:
            Talk.complain(error.message, hint: error.hint)
            return error.mayBeDropped ? .fateUnknown : error.isInputFault ? .badInput : .tryAgain
        case let error as SystemError:
            Talk.complain("\(error)", hint: "check the path and its permissions")
            return .badInput
        case let code as ExitCode: return code
        default: throw error
        }
    }

    private func content(of file: String) throws -> [UInt8] {
        let limit = 1 << 30
        let bytes =
            file == "-"
            ? try StandardStream.input.readToEnd(limit: limit) : try OpenFile.open(path: file).contents(limit: limit)
        guard let bytes, bytes.count <= limit else {
            Talk.complain(
                "\(file) is longer than 1 GiB", hint: "copy it to the app's tmp/ yourself, then rename it into new/")
            throw ExitCode.badInput
        }
        guard !bytes.isEmpty || file != "-" else {
            Talk.complain("standard input is empty", hint: "pipe a job into the command, or name a file")
            throw ExitCode.badInput
        }
        return bytes
    }

    private func jobName(of file: String) -> String {
        file == "-" ? "stdin.\(format.rawValue)" : FilePlace(file).name
    }

    private func awaitEnd(of names: [String], in folder: String) async throws {
        let watcher = JobAwaiting(app: app, spool: folder, until: .now + .seconds(timeout.seconds))
        let option = spool.map { " --spool \(ShellWord.spelled($0))" } ?? options.repeated
        let show = "pushspool show\(option) --app \(app)"
        var code: ExitCode?
        for name in names {
            let proposal = "\(show) \(ShellWord.quoted(name))"
            let end = try await watcher.end(of: name)
            switch end {
            case .accepted:
                if json { Talk.say(line(name, end.state, end.text)) } else { Talk.say("\(name): \(end.text)") }
            case .other(_, _, let reasons):
                if json { Talk.say(line(name, end.state, end.text, reasons)) }
                if !json { Talk.say((["\(name): \(end.text)"] + (reasons?.lines ?? [])).joined(separator: "\n  ")) }
                Talk.note("hint: see: \(proposal)")
                code = code ?? .badInput
            case .notYet(_, _, let isInVain):
                let time = isInVain ? "" : " after \(timeout.seconds) s"
                if json { Talk.say(line(name, end.state, end.text)) }
                Talk.complain(
                    "\(name) has not finished\(time): \(end.text)",
                    hint: "it is dropped: do not submit it again; is the daemon running? see: "
                        + "pushspool status\(options.repeated); \(proposal)")
                code = .fateUnknown
            }
        }
        if let code { throw code }
    }

    /// The job as one JSON object and a line feed, with its state in the words of `pushspool list` and a description.
    private func line(_ name: String, _ state: String, _ text: String? = nil, _ reasons: JobReasons? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", app)
        writer.member("job", name)
        writer.member("state", state)
        writer.member("text", text)
        reasons?.write(to: &writer)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
