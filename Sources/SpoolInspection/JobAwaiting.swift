import SpoolClient

/// Waits until jobs have ended, by polling their folders.
package struct JobAwaiting {
    /// The end of a job.
    package enum End {
        /// In `done/`, with all notifications accepted.
        case accepted
        /// In the folder for this state (`done`, `failed` or `held`), with not all notifications accepted; with a
        /// description.
        case other(state: String, String)
        /// The deadline has passed; with whether the job is still in `new/`.
        case notYet(isWaiting: Bool)

        /// The state of the job in the words of `pushspool list`.
        package var state: String {
            switch self {
            case .accepted: "done"
            case .other(let state, _): state
            case .notYet(let isWaiting): isWaiting ? "waiting" : "sending"
            }
        }

        /// A description of the end.
        package var text: String {
            switch self {
            case .accepted: "done, all accepted"
            case .other(_, let words): words
            case .notYet(let isWaiting):
                isWaiting ? "still waiting in new/" : "still being sent, or its file was removed"
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

    /// Waits for the end of one job.
    ///
    /// - Throws: `SpoolClientError`: the folders cannot be read.
    package func end(of name: String) async throws -> End {
        var line = ProgressLine()
        defer { line.clear() }
        let locator = try JobLocator(app: app, spool: spool)
        var pause = Duration.milliseconds(20)
        while true {
            let place = try locator.place(of: name)
            switch place {
            case .done(_, let result?):
                return .other(state: "done", "done, but " + ResultSummary.text(of: result))
            case .failed(_, let result?):
                return .other(state: "failed", "failed: " + ResultSummary.text(of: result))
            case .held: return .other(state: "held", "held in hold/")
            // Without a result file all was accepted: the daemon writes the result before it archives the job.
            case .done(_, nil): return .accepted
            case .failed(_, nil): return .other(state: "failed", "failed; its result file has been removed")
            case .waiting, nil:
                guard ContinuousClock.now < until else { return .notYet(isWaiting: place == .waiting) }
                if let job = StatusFile.progress(of: name, app: app, in: spool) { line.show(job) }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(500))
            }
        }
    }
}
