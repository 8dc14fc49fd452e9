import APNSModel
import ArgumentParser
import Document
import LinuxIO
import PushDaemon
import SpoolModel
import SpoolStore

/// `pushspool list`.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the jobs that wait, are sent, or are held.",
        discussion: """
            Looks into the spool's folders, whether a daemon runs or not. How far a job is, its rate and what is left of it \
            come from the daemon's status, for jobs that take more than a second; so does what is in work/, for those \
            who may not look there.

            Example: pushspool list --spool /var/spool/pushspool --app weather
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("The spool; instead of the configuration's.", valueName: "folder"))
    var spool: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this app; may be given again.", valueName: "name"))
    var app: [String] = []

    @Flag(help: "Print a JSON object a line.")
    var json = false

    func run() throws {
        let path = try spool ?? ConfigurationLoader(path: options.config).daemon().spool
        do throws(SystemError) {
            let root = try Directory.open(path: path)
            let apps = app.isEmpty ? try QueueListing.apps(in: root) : app
            let status = StatusFile.all(of: path)
            var rows: [Row] = []
            for app in apps {
                rows += try self.rows(of: app, in: root, status.flatMap { $0.apps }.filter { $0.name == app })
            }
            if json { for row in rows { StandardStream.output.write(row.json) } } else { say(rows) }
        } catch {
            Talk.complain("\(error)", hint: "check the spool's path, the app's name, and the permissions")
            throw ExitCode.badInput
        }
    }

    private func rows(
        of app: String, in root: Directory, _ status: [SpoolStatus.App]
    ) throws(SystemError) -> [Row] {
        let (entries, unreadable) = try QueueListing.entries(of: app, in: root)
        var progress: [String: SpoolStatus.Job] = [:]
        for job in status.flatMap(\.progress) { progress[job.id.description] = job }
        var rows = entries.map { entry in
            Row(app, entry, entry.id.flatMap { progress.removeValue(forKey: $0.description) })
        }
        guard !unreadable.isEmpty else { return rows }
        rows += progress.values.sorted { $0.id.bits < $1.id.bits }.map { Row(app, $0) }
        let shown = rows.filter { $0.state == .sending }.count
        let more = max(0, status.reduce(0) { $0 + $1.jobCount } - shown)
        Talk.note("pushspool: \(unreadable.joined(separator: ", ")) may not be read; \(more) more jobs are under way")
        return rows
    }

    private func say(_ rows: [Row]) {
        let header = ["app", "state", "age", "bytes", "job", "progress"]
        for line in Table(header: header, rows: rows.map(\.cells), rightAligned: [2, 3]).lines { Talk.say(line) }
    }
}

/// A job in the list.
private struct Row {
    let app: String
    let state: QueueListing.State
    let name: String
    let id: JobID?
    let byteCount: Int64?
    let since: WallTime?
    let progress: SpoolStatus.Job?

    init(_ app: String, _ entry: QueueListing.Entry, _ progress: SpoolStatus.Job?) {
        (self.app, state, id, since) = (app, entry.state, entry.id, entry.since)
        (byteCount, self.progress) = (entry.byteCount, progress)
        // The whole name, if the daemon tells it.
        name = progress?.name ?? "\(entry.name)"
    }

    /// One that only the daemon knows of.
    init(_ app: String, _ job: SpoolStatus.Job) {
        (self.app, state, name, id) = (app, .sending, job.name, job.id)
        (byteCount, since, progress) = (nil, nil, job)
    }

    var cells: [String] {
        let age = since.map { (WallTime(nanoseconds: WallClock.nanoseconds()) - $0).inWords }
        return [
            app, state.rawValue, age ?? "", byteCount.map(String.init) ?? "", name, progress?.inWords ?? "",
        ]
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", app)
        writer.member("state", state.rawValue)
        writer.member("job", name)
        writer.member("id", id?.description)
        writer.member("since", since?.rfc3339)
        let remaining = progress?.remaining.map { Int($0.components.seconds) }
        let numbers: [(String, Int?)] = [
            ("bytes", byteCount.map { Int($0) }), ("count", progress?.count), ("settled", progress?.settledCount),
            ("rate", progress?.rate), ("remaining_s", remaining),
        ]
        for case (let key, let number?) in numbers { writer.member(key, number) }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
