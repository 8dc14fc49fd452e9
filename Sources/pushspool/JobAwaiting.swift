import PushDaemon
import SpoolClient

/// Waits for jobs to be over by looking where they are.
struct JobAwaiting {
    /// How a job ended.
    enum End {
        /// In `done/`, everything accepted.
        case accepted
        /// In the folder of this state and not accepted as a whole: `done`, `failed` or `held`; and what became of it in words.
        case other(state: String, String)
        /// Not by the deadline; whether it still waits in `new/`.
        case notYet(isWaiting: Bool)

        /// Where the job is, in the words of `pushspool list`.
        var state: String {
            switch self {
            case .accepted: "done"
            case .other(let state, _): state
            case .notYet(let isWaiting): isWaiting ? "waiting" : "sending"
            }
        }

        /// The same in words, for a person.
        var text: String {
            switch self {
            case .accepted: "done, all accepted"
            case .other(_, let words): words
            case .notYet(let isWaiting): isWaiting ? "it waits in new/" : "it is being sent, or was taken away"
            }
        }
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
            case .done(_, let result?):
                return .other(state: "done", "done, but " + ResultSummary.text(of: result))
            case .failed(_, let result?):
                return .other(state: "failed", "failed: " + ResultSummary.text(of: result))
            case .held: return .other(state: "held", "held in hold/")
            // A result file is there before its job.
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
