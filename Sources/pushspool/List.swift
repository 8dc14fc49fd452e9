import ArgumentParser
import JobFormat
import LinuxIO
import PushModel
import ServiceProcess
import SpoolInspection
import SpoolModel
import SpoolStore

/// The command `pushspool list`.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List waiting, active, held and archived jobs.",
        discussion: """
            Reads the spool's folders, with or without a daemon. Progress, rate and remaining time come from the daemon's \
            status, for jobs that take more than a second; users without permission to read work/ also see its jobs from \
            there.

            If you name jobs or apps, lists only those. Lists archived jobs only if --state asks for them.

            Example: pushspool list --spool /var/spool/pushspool --app weather
            """)

    @OptionGroup var place: SpoolOption

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this app; repeatable.", valueName: "name"))
    var app: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only jobs in this state: waiting, sending, held, done or failed; repeatable.", valueName: "state"))
    var state: [State] = []

    @Option(
        help: ArgumentHelp(
            "Only jobs that have been in their folder for at most this long, such as 2h or 1d.", valueName: "duration"))
    var since: TimeLimit?

    @Option(
        help: ArgumentHelp("Only jobs that have been in their folder for at least this long.", valueName: "duration"))
    var olderThan: TimeLimit?

    @Flag(help: "Count the jobs of each app by age instead.")
    var shape = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(help: ArgumentHelp("Apps, and jobs by name or id; - reads names from standard input.", valueName: "name"))
    var names: [String] = []

    /// The state of a job in the list.
    enum State: String, CaseIterable, ExpressibleByArgument {
        case waiting, sending, held, done, failed
    }

    func validate() throws {
        guard !shape || state.isEmpty && since == nil && olderThan == nil else {
            throw ValidationError("--shape counts all unfinished jobs: do not combine it with filters.")
        }
        guard !shape || names.isEmpty else { throw ValidationError("--shape counts all jobs: do not name any.") }
    }

    func run() throws {
        let path = try place.path()
        try OutputBuffer.printing(hint: SpoolOption.hint) { output in
            let queries = JobQueries(try input.all(of: names))
            // Standard input may have contained no names.
            if queries.isEmpty, !names.isEmpty { return }
            let root = try Directory.open(path: path)
            let apps = app.isEmpty ? try QueueListing.apps(in: root) : app.once
            if shape { return try sayShape(of: apps, in: root, to: &output) }
            var found: Set<Int> = []
            var (rows, unreadable): ([JobList.Row], [String]) = ([], [])
            let daemons = StatusFile.all(of: path)
            let status = daemons.flatMap(\.apps)
            for app in apps {
                let isWhole = queries.isEmpty || queries.position(of: app) != nil
                let part = try JobList(of: app, in: root, status.filter { $0.name == app }) { name, id in
                    let positions = queries.positions(name: name, id: id, app: app)
                    found.formUnion(positions)
                    return isWhole || !positions.isEmpty
                }
                rows += part.rows.filter { isWanted($0) }
                note(part)
                unreadable += part.unreadable
                unreadable += try addArchived(of: app, in: root, to: &rows) { name in
                    let positions = queries.positions(name: name, id: nil, app: app)
                    found.formUnion(positions)
                    return isWhole || !positions.isEmpty
                }
            }
            found.formUnion(apps.compactMap { queries.position(of: $0) })
            try say(rows, daemons.map(\.node), to: &output)
            try output.flush()
            let missing = queries.all.indices.filter { !found.contains($0) }.map { queries.all[$0].text }
            try complain(ofMissing: missing, isAllRead: unreadable.isEmpty)
        }
    }

    /// Whether a job has a requested state, and has been there for the requested time.
    private func isWanted(_ row: JobList.Row) -> Bool {
        (state.isEmpty || state.contains { $0.rawValue == row.state }) && isWanted(since: row.since)
    }

    private func isWanted(since time: WallTime?) -> Bool {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        guard let time else { return since == nil && olderThan == nil }
        return (since.map { now - time <= .seconds($0.seconds) } ?? true)
            && (olderThan.map { now - time >= .seconds($0.seconds) } ?? true)
    }

    /// Adds the requested jobs in the archives, the newest day last.
    ///
    /// - Returns: The folders without read permission.
    private func addArchived(
        of app: String, in root: Directory, to rows: inout [JobList.Row], where isMeant: (FileName) -> Bool
    ) throws(SystemError) -> [String] {
        guard state.contains(.done) || state.contains(.failed) else { return [] }
        let (days, unreadable) = try ArchiveListing.days(of: app, in: root)
        for day in days.reversed() where state.contains(where: { $0.rawValue == day.folder.rawValue }) {
            try day.forEachJob { name, status in
                guard isWanted(since: WallTime(nanoseconds: status.changedAt)), isMeant(name) else { return }
                rows.append(JobList.Row(app, day, name, status))
            }
        }
        return unreadable
    }

    private func note(_ part: JobList) {
        guard !part.unreadable.isEmpty else { return }
        let hidden = part.hiddenCount == 0 ? "" : "; \(part.hiddenCount.of("more active job")) not shown"
        Talk.note("pushspool: no permission to read \(part.unreadable.joined(separator: ", "))\(hidden)")
    }

    private func complain(ofMissing names: [String], isAllRead: Bool) throws {
        guard !names.isEmpty else { return }
        let reason =
            state.isEmpty && since == nil
            ? "no waiting, active or held job is named" : "no job in this state and time range is named"
        for name in names {
            if isAllRead {
                Talk.complain(
                    "\(reason) \(name)",
                    hint: "see: pushspool show\(place.repeated) \(ShellWord.quoted(name))")
            } else {
                Talk.complain(
                    "\(name) was not found, but some folders cannot be read",
                    hint: "run as the daemon's user, who can read all folders")
            }
        }
        throw ExitCode.failure
    }

    private func sayShape(
        of apps: [String], in root: Directory, to output: inout OutputBuffer
    ) throws(SystemError) {
        var shape = AgeShape()
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        for app in apps {
            shape.add(app: app)
            let unreadable = try QueueListing.forEach(of: app, in: root) { shape.add(age: now - $0.since, of: app) }
            guard !unreadable.isEmpty else { continue }
            Talk.note("pushspool: no permission to read \(unreadable.joined(separator: ", ")); not counted")
        }
        guard !json else {
            for row in shape.rows { try output.append(row.json) }
            return
        }
        let cells = ([shape.total] + shape.rows).map { row in [row.app, "\(row.total)"] + row.counts.map(String.init) }
        let header = ["", "T"] + AgeShape.columns
        try output.append(lines: Table(header: header, rows: cells, rightAligned: Set(header.indices)).lines)
    }

    /// Prints the jobs. The table tells their nodes unless all are those of the only daemon.
    private func say(
        _ rows: [JobList.Row], _ running: [String], to output: inout OutputBuffer
    ) throws(SystemError) {
        guard !json else {
            for row in rows { try output.append(row.json) }
            return
        }
        let nodes = Set(rows.compactMap(\.node)).union(running)
        let hasNodes = nodes.count > 1
        let header = ["app", "state", "age", "bytes", "job", "progress"] + (hasNodes ? ["node"] : [])
        let cells = rows.map { $0.cells + (hasNodes ? [$0.node ?? ""] : []) }
        try output.append(lines: Table(header: header, rows: cells, rightAligned: [2, 3]).lines)
    }
}
