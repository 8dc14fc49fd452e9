package import APNSModel
package import Document

/// What a daemon says of itself in `.pushspool/public/<node>/status.json`.
package struct SpoolStatus: Hashable, Sendable {
    /// The version that every file begins with.
    package static let version = 1
    /// The file's name.
    package static let fileName = "status.json"
    /// How often it is written at least. One that is older than twice this was left by a daemon that has ended, or hangs.
    package static let interval = Duration.seconds(30)

    /// What an app is doing.
    package enum AppState: String, CaseIterable, Hashable, Sendable {
        /// No job is under way.
        case idle
        /// Jobs are taken and sent.
        case sending
        /// Jobs are under way, and a connection comes about.
        case connecting
        /// No connection comes about, or none that lasts.
        case unreachable
        /// The gateway answers, and takes nothing.
        case refused
        /// An operator has paused it: nothing is taken or sent.
        case paused
        /// The gateway refuses the app as such: nothing is sent until its configuration is mended.
        case stopped
        /// The gateway is asked, with one notification, whether it takes the app again.
        case asking
        /// There is no room on the volume for further jobs.
        case full
        /// A file operation does not come back: the filesystem hangs.
        case stuck
        /// The app has not started yet, or could not.
        case starting
        /// Its jobs under way end, and no more are taken.
        case ending
        /// Its configuration is at fault.
        case broken
        /// There is a directory, and no configuration for it.
        case unconfigured
    }

    /// An app of the spool.
    package struct App: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// What it is doing.
        package var state: AppState
        /// How many jobs are under way; those that wait in `new/` are not counted.
        package var jobCount = 0
        /// Where it sends to, if it is configured.
        package var gateway: String?
        /// What it proves itself with, if it is configured; older daemons do not say.
        package var credentials: Credentials?
        /// Since when it is stuck or paused, or its gateway takes nothing.
        package var since: WallTime?
        /// Why it could not start, or does less than it could, in words.
        package var reason: String?
        /// When its certificate becomes valid, or its gateway is asked again.
        package var until: WallTime?
        /// When its gateway last answered a notification.
        package var answeredAt: WallTime?
        /// How many files in `new/` are never taken, because their names are no jobs'.
        package var ignoredCount = 0
        /// The longest of those jobs that take more than a second.
        package var progress: [Job] = []

        /// Creates an app without jobs.
        package init(name: String, state: AppState) {
            (self.name, self.state) = (name, state)
        }
    }

    /// How far a job is.
    package struct Job: Hashable, Sendable {
        /// The name it was dropped by, escaped.
        package let name: String
        /// Our name of it.
        package let id: JobID
        /// How many notifications it has.
        package let count: Int
        /// How many of them have an outcome.
        package let settledCount: Int
        /// How many get one a second; `nil` while it is not known.
        package var rate: Int?
        /// How long the rest takes at that rate, to the second; `nil` while it is not known, or the rate is nothing.
        package var remaining: Duration?

        /// Creates a job of which no rate is known.
        package init(name: String, id: JobID, count: Int, settledCount: Int) {
            (self.name, self.id, self.count, self.settledCount) = (name, id, count, settledCount)
        }

        /// How much of it has an outcome, from 0 to 1.
        package var share: Double { count == 0 ? 1 : Double(settledCount) / Double(count) }
    }

    /// The daemon's name in the spool.
    package var node: String
    /// Its process.
    package var processID: Int
    /// When it started.
    package var startedAt: WallTime
    /// When this was written.
    package var writtenAt: WallTime
    /// Whether it takes no more jobs, because it is to end.
    package var isStopping = false
    /// The apps, in the order of their names.
    package var apps: [App] = []

    /// Creates a status without apps.
    package init(node: String, processID: Int, startedAt: WallTime, writtenAt: WallTime) {
        (self.node, self.processID) = (node, processID)
        (self.startedAt, self.writtenAt) = (startedAt, writtenAt)
    }

    /// Reads one from its file, or finds that it is none of this version.
    package init?(_ root: Node) {
        guard root["v"]?.integer == Self.version, let node = root["node"]?.string,
            let processID = root["pid"]?.integer, let startedAt = root["started_at"]?.time,
            let writtenAt = root["written_at"]?.time, let apps = root["apps"]?.elements.map(App.init(_:))
        else { return nil }
        self.init(node: node, processID: processID, startedAt: startedAt, writtenAt: writtenAt)
        isStopping = root["state"]?.string == Self.stopping
        self.apps = apps.compactMap { $0 }
        guard self.apps.count == apps.count else { return nil }
    }

    /// The file's bytes: one JSON object and a line feed.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("v")
        writer.integer(Self.version)
        writer.member("node", node)
        writer.key("pid")
        writer.integer(processID)
        writer.member("state", isStopping ? Self.stopping : "running")
        writer.member("started_at", startedAt.rfc3339)
        writer.member("written_at", writtenAt.rfc3339)
        writer.key("apps")
        writer.beginArray()
        for app in apps { app.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private static let stopping = "stopping"
}

extension SpoolStatus.App {
    fileprivate init?(_ node: Node) {
        guard let name = node["app"]?.string, let text = node["state"]?.string,
            let state = SpoolStatus.AppState(rawValue: text), let jobCount = node["jobs"]?.integer
        else { return nil }
        self.init(name: name, state: state)
        self.jobCount = jobCount
        gateway = node["gateway"]?.string
        since = node["since"]?.time
        reason = node["reason"]?.string
        until = node["until"]?.time
        answeredAt = node["answered_at"]?.time
        ignoredCount = node["ignored"]?.integer ?? 0
        credentials = node["credentials"].flatMap(SpoolStatus.Credentials.init(_:))
        let progress = node["progress"]?.elements.map(SpoolStatus.Job.init(_:)) ?? []
        self.progress = progress.compactMap { $0 }
        guard self.progress.count == progress.count else { return nil }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("app", name)
        writer.member("state", state.rawValue)
        writer.key("jobs")
        writer.integer(jobCount)
        writer.member("gateway", gateway)
        writer.member("since", since?.rfc3339)
        writer.member("reason", reason)
        writer.member("until", until?.rfc3339)
        writer.member("answered_at", answeredAt?.rfc3339)
        if ignoredCount > 0 { writer.member("ignored", ignoredCount) }
        if let credentials {
            writer.key("credentials")
            credentials.write(to: &writer)
        }
        if !progress.isEmpty {
            writer.key("progress")
            writer.beginArray()
            for job in progress { job.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension SpoolStatus.Job {
    fileprivate init?(_ node: Node) {
        guard let name = node["job"]?.string, let id = node["id"]?.string.flatMap({ JobID($0) }),
            let count = node["count"]?.integer, let settledCount = node["settled"]?.integer
        else { return nil }
        self.init(name: name, id: id, count: count, settledCount: settledCount)
        rate = node["rate"]?.integer
        remaining = node["remaining_s"]?.integer.map { .seconds($0) }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("job", name)
        writer.member("id", id.description)
        writer.member("count", count)
        writer.member("settled", settledCount)
        if let rate { writer.member("rate", rate) }
        if let remaining { writer.member("remaining_s", Int(remaining.components.seconds)) }
        writer.endObject()
    }
}

extension Node {
    fileprivate var time: WallTime? { string.flatMap { WallTime(rfc3339: $0) } }
}
