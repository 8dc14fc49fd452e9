import PushDaemon
import SpoolClient

/// Waits for jobs to be over by looking where they are.
struct JobAwaiting {
    /// How a job ended.
    enum End {
        /// In `done/`, everything accepted.
        case accepted
        /// Anything else, in words.
        case other(String)
        /// Not by the deadline; whether it still waits in `new/`.
        case notYet(isWaiting: Bool)
    }

    let app: String
    let spool: String
    let until: ContinuousClock.Instant

    /// Waits for one job.
    ///
    /// - Throws: `SpoolClientError`: the folders cannot be read.
    func end(of name: String) async throws -> End {
        var line = ProgressLine()
        defer { line.clear() }
        let locator = try JobLocator(app: app, spool: spool)
        var pause = Duration.milliseconds(20)
        while true {
            let place = try locator.place(of: name)
            switch place {
            case .done(_, let result?): return .other("done, but " + ResultSummary.text(of: result))
            case .failed(_, let result?): return .other("failed: " + ResultSummary.text(of: result))
            case .held: return .other("held in hold/")
            // A result file is there before its job.
            case .done(_, nil): return .accepted
            case .failed(_, nil): return .other("failed; its result file has been removed")
            case .waiting, nil:
                guard ContinuousClock.now < until else { return .notYet(isWaiting: place == .waiting) }
                if let job = StatusFile.progress(of: name, app: app, in: spool) { line.show(job) }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(500))
            }
        }
    }
}
