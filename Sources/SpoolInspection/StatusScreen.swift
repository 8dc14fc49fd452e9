import PushModel
import ServiceProcess
import SpoolModel

/// The screen of `pushspool status --watch`: the daemon, why apps wait, certificates to renew, each app, and the
/// longest jobs.
struct StatusScreen {
    /// The jobs waiting in an app's `new/`.
    struct Waiting: Hashable {
        /// The number of jobs.
        var count = 0
        /// Since when the oldest has been waiting.
        var oldest: WallTime?
    }

    /// The daemon's status, if there is one.
    let status: SpoolStatus?
    /// Why there is no status, or why it may be out of date.
    let fault: String?
    /// The waiting jobs by app.
    let waiting: [String: Waiting]
    /// The current time.
    let now: WallTime

    /// The lines of the screen, cut to fit.
    func lines(columns: Int, rows: Int) -> [String] {
        var head = [title, sums]
        if let fault { head.append("! " + fault) }
        head += cut(reasons, to: max(1, rows / 6), more: "more waiting apps")
        head += cut(expiries, to: max(1, rows / 6), more: "more certificates to renew")
        head.append("")
        let jobs = jobs(columns: columns).prefix(rows / 4)
        let room = max(1, rows - head.count - 1 - (jobs.isEmpty ? 0 : jobs.count + 1))
        var table = Table(header: Self.header, rows: names.map(cells), rightAligned: [2, 3, 4, 5]).lines
        let hidden = table.count - 1 - room
        if hidden > 0 {
            table.removeLast(hidden + 1)
            table.append("… and \(hidden + 1) more apps")
        }
        let below: [String] = jobs.isEmpty ? [] : [""] + jobs
        return (head + table + below).prefix(rows).map { String($0.prefix(columns)) }
    }

    private static let header = ["app", "state", "jobs", "waiting", "oldest", "rate", "gateway"]

    private var title: String {
        guard let status else { return "pushspool" }
        let doing = status.isStopping ? "stopping" : "running"
        let (up, age) = ((now - status.startedAt).inWords, (now - status.writtenAt).inWords)
        return "node \(status.node), process \(status.processID), \(doing) for \(up), updated \(age) ago"
    }

    private var sums: String {
        let apps = status?.apps ?? []
        let rate = apps.flatMap(\.progress).compactMap(\.rate).reduce(0, +)
        let jobCount = apps.reduce(0) { $0 + $1.jobCount }
        let waitingCount = waiting.values.reduce(0) { $0 + $1.count }
        let troubled = apps.count(where: \.isTroubled)
        let trouble = troubled == 0 ? "" : ", \(troubled) not sending"
        let wait = waitingCount == 1 ? "1 waiting" : "\(waitingCount) waiting"
        return "\(names.count.of("app"))\(trouble); \(jobCount.of("job")) active, \(wait); \(rate)/s"
    }

    /// The reasons why apps wait or do not start, and what is wrong with their hooks and feedback.
    private var reasons: [String] {
        let apps = status?.apps ?? []
        return (apps.compactMap(\.waitReason) + apps.flatMap { $0.feedbackLines(at: now) }).map { "! \($0)" }
    }

    /// Certificates that expire within 30 days or have expired, the earliest first.
    private var expiries: [String] {
        let ends = (status?.apps ?? []).compactMap { app in
            app.expiry(at: now).map { (end: app.credentials?.notAfter ?? now, name: app.name, line: "! \($0)") }
        }
        return ends.sorted { ($0.end, $0.name) < ($1.end, $1.name) }.map(\.line)
    }

    /// Cuts a list to the available room, and counts the omitted lines.
    private func cut(_ lines: [String], to room: Int, more: String) -> [String] {
        guard lines.count > room else { return lines }
        return Array(lines.prefix(room - 1)) + ["! … and \(lines.count - room + 1) \(more)"]
    }

    /// The apps: those with problems first, then those with jobs, then the idle ones.
    private var names: [String] {
        let known = Dictionary((status?.apps ?? []).map { ($0.name, $0) }) { first, _ in first }
        return Set(known.keys).union(waiting.keys).map { name -> (rank: Int, name: String) in
            if known[name]?.isTroubled == true { return (0, name) }
            let isBusy = (known[name]?.jobCount ?? 0) + (waiting[name]?.count ?? 0) > 0
            return (isBusy ? 1 : 2, name)
        }
        .sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }.map(\.name)
    }

    private func cells(_ name: String) -> [String] {
        let app = status?.apps.first { $0.name == name }
        let since =
            app?.since.map { " for \((now - $0).inWords)" } ?? app?.until.map { " until \($0.rfc3339)" } ?? ""
        let rate = (app?.progress ?? []).compactMap(\.rate)
        return [
            name, (app?.state.rawValue ?? "") + since, app.map { "\($0.jobCount)" } ?? "",
            waiting[name].map { "\($0.count)" } ?? "", waiting[name]?.oldest.map { (now - $0).inWords } ?? "",
            rate.isEmpty ? "" : "\(rate.reduce(0, +))/s", app?.gateway ?? "",
        ]
    }

    /// The progress of jobs, the longest first.
    private func jobs(columns: Int) -> [String] {
        let jobs = (status?.apps ?? []).flatMap { app in app.progress.map { (app.name, $0) } }
        return jobs.sorted { $0.1.count > $1.1.count }.map { app, job in
            ProgressLine.text(of: job, name: "\(app)/\(job.name)", columns: columns)
        }
    }
}

extension SpoolStatus.App {
    /// Whether the app does not send, but should.
    fileprivate var isTroubled: Bool {
        switch state {
        case .idle, .sending, .connecting, .starting, .ending, .unconfigured, .paused: false
        case .unreachable, .refused, .stopped, .asking, .full, .stuck, .broken: true
        }
    }
}
