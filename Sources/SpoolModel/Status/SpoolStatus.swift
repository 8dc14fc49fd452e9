package import Document
import JobFormat
package import PushModel

/// The status that a daemon writes to `.pushspool/public/<node>/status.json`.
package struct SpoolStatus: Hashable, Sendable {
    /// The version in every file.
    package static let version = 1
    /// The name of the file.
    package static let fileName = "status.json"
    /// The longest time between writes. If the file is older than twice this, its daemon has ended or hangs.
    package static let interval = Duration.seconds(30)

    /// The state of an app.
    package enum AppState: String, CaseIterable, Hashable, Sendable {
        /// It has no active jobs.
        case idle
        /// It is claiming and sending jobs.
        case sending
        /// It has active jobs, and is opening a connection.
        case connecting
        /// It cannot open a connection, or each one breaks.
        case unreachable
        /// The gateway answers, but accepts nothing.
        case refused
        /// An operator paused the app: it claims and sends nothing.
        case paused
        /// The gateway refuses the app itself: it sends nothing until its configuration is fixed.
        case stopped
        /// The app is testing, with one notification, whether the gateway accepts it again.
        case asking
        /// The volume has no room for more jobs.
        case full
        /// A file operation does not return: the filesystem hangs.
        case stuck
        /// The app has not started yet, or could not start.
        case starting
        /// The app is finishing its active jobs, and claims no more.
        case ending
        /// The configuration is faulty.
        case broken
        /// The app has a directory but no configuration.
        case unconfigured
    }

    /// An app in the spool.
    package struct App: Hashable, Sendable {
        /// The name of the app.
        package var name: String
        /// The state of the app.
        package var state: AppState
        /// The number of active jobs, not counting those that wait in `new/`.
        package var jobCount = 0
        /// The gateway that it sends to, if it is configured.
        package var gateway: String?
        /// Its credentials, if it is configured. Older daemons do not write them.
        package var credentials: Credentials?
        /// Since when it has been stuck or paused, or its gateway has accepted nothing.
        package var since: WallTime?
        /// Why it could not start or is limited, in words.
        package var reason: String?
        /// When its certificate becomes valid, or it tries its gateway again.
        package var until: WallTime?
        /// When its gateway last answered a notification.
        package var answeredAt: WallTime?
        /// The number of files in `new/` that are ignored because their names are not job names.
        package var ignoredCount = 0
        /// What keeps its hook from taking feedback; `nil` if nothing does, or it has no hook.
        package var hookTrouble: HookTrouble?
        /// The feedback files that wait; `nil` if none do.
        package var unreadFeedback: UnreadFeedback?
        /// The active jobs that take more than a second: those that its gateway refuses, and the longest.
        package var progress: [Job] = []

        /// Creates an app without jobs.
        package init(name: String, state: AppState) {
            (self.name, self.state) = (name, state)
        }
    }

    /// The progress of a job.
    package struct Job: Hashable, Sendable {
        /// The name of the dropped file, escaped.
        package let name: String
        /// The daemon's id.
        package let id: JobID
        /// The number of its notifications.
        package let count: Int
        /// How many of them have an outcome.
        package let settledCount: Int
        /// Why it waits, in words; `nil` if it does not.
        package var reason: String?
        /// How many get an outcome per second; `nil` if unknown.
        package var rate: Int?
        /// The estimated time for the others, to the second; `nil` if the rate is unknown or zero.
        package var remaining: Duration?

        /// Creates the progress of a job without a rate.
        package init(name: String, id: JobID, count: Int, settledCount: Int) {
            (self.name, self.id, self.count, self.settledCount) = (name, id, count, settledCount)
        }

        /// The part of the notifications that has an outcome, from 0 to 1.
        package var share: Double { count == 0 ? 1 : Double(settledCount) / Double(count) }
    }

    /// The name of the daemon's node.
    package var node: String
    /// The daemon's process ID.
    package var processID: Int
    /// When the daemon started.
    package var startedAt: WallTime
    /// When the status was written.
    package var writtenAt: WallTime
    /// Whether the daemon is stopping and claims no more jobs.
    package var isStopping = false
    /// The daemon's part in a cluster; `nil` if it works alone.
    package var cluster: Cluster?
    /// The nodes that do not run and have left jobs, by name.
    package var left: [LeftNode] = []
    /// The apps, sorted by name.
    package var apps: [App] = []

    /// Creates a status without apps.
    package init(node: String, processID: Int, startedAt: WallTime, writtenAt: WallTime) {
        (self.node, self.processID) = (node, processID)
        (self.startedAt, self.writtenAt) = (startedAt, writtenAt)
    }

    /// Reads a status file; `nil` if it is not of this version.
    package init?(_ root: Node) {
        guard root["v"]?.integer == Self.version, let node = root["node"]?.string,
            let processID = root["pid"]?.integer, let startedAt = root["started_at"]?.time,
            let writtenAt = root["written_at"]?.time, let apps = root["apps"]?.elements.map(App.init(_:))
        else { return nil }
        self.init(node: node, processID: processID, startedAt: startedAt, writtenAt: writtenAt)
        isStopping = root["state"]?.string == Self.stopping
        cluster = root["cluster"].flatMap(Cluster.init(_:))
        left = root["left"]?.elements.compactMap(LeftNode.init(_:)) ?? []
        self.apps = apps.compactMap { $0 }
        guard self.apps.count == apps.count else { return nil }
    }

    /// The content of the file: one JSON object and a line feed.
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
        if let cluster {
            writer.key("cluster")
            cluster.write(to: &writer)
        }
        if !left.isEmpty {
            writer.key("left")
            writer.beginArray()
            for node in left { node.write(to: &writer) }
            writer.endArray()
        }
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
        hookTrouble = node["hook"].flatMap(SpoolStatus.HookTrouble.init(_:))
        unreadFeedback = node["feedback"].flatMap(SpoolStatus.UnreadFeedback.init(_:))
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
        if let hookTrouble {
            writer.key("hook")
            hookTrouble.write(to: &writer)
        }
        if let unreadFeedback {
            writer.key("feedback")
            unreadFeedback.write(to: &writer)
        }
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
        reason = node["reason"]?.string
        rate = node["rate"]?.integer
        remaining = node["remaining_s"]?.integer.map { .seconds($0) }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("job", name)
        writer.member("id", id.description)
        writer.member("count", count)
        writer.member("settled", settledCount)
        writer.member("reason", reason)
        if let rate { writer.member("rate", rate) }
        if let remaining { writer.member("remaining_s", Int(remaining.components.seconds)) }
        writer.endObject()
    }
}

extension Node {
    fileprivate var time: WallTime? { string.flatMap { WallTime(rfc3339: $0) } }
}
