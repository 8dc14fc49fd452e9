import PushModel
import ServiceProcess
import SpoolClient
import SpoolModel

/// Waits until jobs have ended, by polling what this user may read of the spool.
package struct JobAwaiting {
    /// The end of a job.
    package enum End {
        /// In `done/`, with all notifications accepted.
        case accepted
        /// In the folder for this state (`done`, `failed` or `held`), with not all notifications accepted; with a
        /// description.
        case other(state: String, String, JobReasons? = nil)
        /// The deadline has passed, or waiting is in vain before; with the state (`waiting`, `sending` or `unknown`) and a
        /// description.
        case notYet(state: String, String, isInVain: Bool)

        /// The state of the job in the words of `pushspool list`; `unknown` if the job is nowhere.
        package var state: String {
            switch self {
            case .accepted: "done"
            case .other(let state, _, _), .notYet(let state, _, _): state
            }
        }

        /// A description of the end.
        package var text: String {
            switch self {
            case .accepted: "done, all accepted"
            case .other(_, let words, _), .notYet(_, let words, _): words
            }
        }
    }

    let app: String
    let spool: String
    let until: ContinuousClock.Instant

    /// Creates a wait for jobs of an app, until a deadline.
    package init(app: String, spool: String, until deadline: ContinuousClock.Instant) {
        (self.app, self.spool, until) = (app, spool, deadline)
    }

    /// Waits for the end of one job, or until the daemons' status says that the app cannot send or that the job is nowhere.
    ///
    /// - Throws: `SpoolClientError`: the folders cannot be read.
    package func end(of name: String) async throws -> End {
        var line = ProgressLine()
        defer { line.clear() }
        let locator = try JobLocator(app: app, spool: spool)
        var (search, absence) = (JobLocator.Search(), JobAbsence())
        var pause = Duration.milliseconds(20)
        while true {
            // The status first: it counts a job until a reader can see how the job has ended.
            let daemons = StatusFile.all(of: spool)
            let apps = daemons.flatMap(\.apps).filter { $0.name == app }
            let place = try locator.place(of: name, &search)
            if let end = place.flatMap({ End($0) }) { return end }
            if place != nil { absence = JobAbsence() }
            if place == nil, absence.isCertain(daemons, app: app) { return .lost }
            if let obstacle = apps.obstacle { return .late(isWaiting: place != nil, obstacle, isInVain: true) }
            guard ContinuousClock.now < until else {
                return .late(isWaiting: place != nil, apps.lazy.compactMap(\.waitReason).first, isInVain: false)
            }
            if let job = apps.lazy.flatMap(\.progress).first(where: { $0.name == name }) { line.show(job) }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(500))
        }
    }
}

extension JobAwaiting.End {
    /// Creates the end of a job that is in this place; `nil` if it has not ended there.
    fileprivate init?(_ place: JobLocator.Place) {
        switch place {
        case .waiting: return nil
        case .held: self = .other(state: "held", "held in hold/")
        case .done(_, let result?):
            self = .other(state: "done", "done, but " + ResultSummary.text(of: result), JobReasons(of: result))
        case .failed(_, let result?):
            self = .other(state: "failed", "failed: " + ResultSummary.text(of: result), JobReasons(of: result))
        // Without a result file all was accepted: the daemon writes the result before it archives the job.
        case .done(_, nil): self = .accepted
        case .failed(_, nil): self = .other(state: "failed", "failed; its result file has been removed")
        }
    }

    fileprivate static let lost = Self.notYet(
        state: "unknown", "neither waiting nor being sent, and how it ended is not known", isInVain: true)

    fileprivate static func late(isWaiting: Bool, _ reason: String?, isInVain: Bool) -> Self {
        let words = isWaiting ? "still waiting in new/" : "still being sent, or its file was removed"
        return .notYet(
            state: isWaiting ? "waiting" : "sending", words + (reason.map { ": \($0)" } ?? ""), isInVain: isInVain)
    }
}

/// Decides when a job that is in no folder and in no list is not being sent either.
struct JobAbsence {
    /// How long a status may be behind: since a job was claimed, and since the daemon started and looked into `work/`.
    private static let (claimLag, startLag) = (Duration.seconds(3), Duration.seconds(5))

    private var since: WallTime?

    /// Records that the job was not found.
    ///
    /// - Parameters:
    ///   - daemons: The status of all daemons, read before the job was looked for.
    ///   - app: Its app.
    ///   - now: The time of day.
    /// - Returns: Whether all of them have written since the job was first missing that they have none of the app's jobs.
    mutating func isCertain(_ daemons: [SpoolStatus], app: String, at now: WallTime = .now) -> Bool {
        let first = since ?? now
        since = first
        let apps = daemons.flatMap(\.apps).filter { $0.name == app }
        return !apps.isEmpty && apps.allSatisfy { $0.jobCount == 0 && [.idle, .paused, .stopped].contains($0.state) }
            && daemons.allSatisfy { daemon in
                daemon.left.isEmpty && daemon.writtenAt - first >= Self.claimLag
                    && daemon.writtenAt - daemon.startedAt >= Self.startLag
            }
    }
}

extension [SpoolStatus.App] {
    /// Why no daemon will send anything of the app before somebody changes its configuration; `nil` if one may.
    var obstacle: String? {
        guard let first, allSatisfy({ [.stopped, .broken, .unconfigured].contains($0.state) }) else { return nil }
        return first.waitReason ?? "\(first.name) is \(first.state.rawValue)"
    }
}
