import ArgumentParser
import CommandProgram
import LinuxIO
import PushModel
import Report
import ServiceProcess
import SpoolInspection
import SpoolModel
import SpoolStore

/// The command `pushspool report`.
struct MakeReport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write an HTML report about jobs and notifications.",
        discussion: """
            Reads feedback/, done/ and failed/, with or without a daemon, and writes one page of HTML with plots and \
            tables: throughput, outcomes, reasons, latency, apps, and jobs that need attention. The page needs no network \
            and no scripts, and contains no tokens. With --json, writes the figures as JSON instead.

            Example: pushspool report --since 7d --output /var/www/html/push.html
            """)

    @OptionGroup var place: SpoolOption

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this app; repeatable.", valueName: "name"))
    var app: [String] = []

    @Option(help: ArgumentHelp("Jobs that ended since then, such as 7d or 2026-11-21.", valueName: "time"))
    var since = "7d"

    @Option(help: ArgumentHelp("Jobs that ended before then; now by default.", valueName: "time"))
    var until: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write; standard output by default.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func validate() throws { _ = try span() }

    func run() throws {
        let path = try place.path()
        do {
            let root = try Directory.open(path: path)
            let apps = app.isEmpty ? try QueueListing.apps(in: root) : app.once
            var reading = ReportReading(SpoolReport(try span()), apps: apps, in: root)
            try reading.run()
            try write(json ? ReportLines.json(reading.report) : page(of: reading.report))
            try complain(ofUnreadable: reading.report.sources.unreadable)
        } catch let error as SystemError {
            // The reader has closed the pipe.
            if error.isBrokenPipe { return }
            Talk.complain("\(error)", hint: "check the paths, the app's name and the permissions")
            throw ExitCode.badInput
        }
    }

    private func page(of report: SpoolReport) -> [UInt8] {
        Array(ReportPage.html(report, madeAt: WallTime(nanoseconds: WallClock.nanoseconds())).utf8)
    }

    /// Reports unreadable folders. The page lists them, too, but may not be read soon.
    private func complain(ofUnreadable folders: [String]) throws {
        guard !folders.isEmpty else { return }
        let more = folders.count > 4 ? ", and \(folders.count - 4) more," : ""
        let names = folders.prefix(4).joined(separator: ", ") + more
        Talk.complain(
            "cannot read \(names): the report does not include them",
            hint: "run as the daemon's user or a member of its group, and remove files that are not regular")
        throw ExitCode.badInput
    }

    private func span() throws -> Range<WallTime> {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        let begin = try TimeOption.time("--since", since) ?? now
        let end = try TimeOption.time("--until", until) ?? now
        guard begin < end else { throw ValidationError("--since must be before --until, and in the past.") }
        return begin..<end
    }

    /// Replaces the file atomically, so that a reader never sees an incomplete page.
    private func write(_ bytes: [UInt8]) throws(SystemError) {
        guard let output else { return try StandardStream.output.send(bytes) }
        let (place, temporary) = (FilePlace(output), Array(".pushspool-\(Host.processID).tmp".utf8))
        let folder = try Directory.open(path: place.directory)
        try folder.replace(place.nameBytes, by: temporary, mode: 0o644) { (file) throws(SystemError) in
            try file.write(bytes)
            try file.sync()
        }
    }
}
