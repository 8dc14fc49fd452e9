package import LinuxIO
import Synchronization

extension Journal {
    /// Returns once all records appended before are durable.
    ///
    /// If no sync is under way, one begins at once; callers that arrive meanwhile share the next one. While `run` is
    /// not running, the caller syncs itself and blocks.
    ///
    /// - Parameters:
    ///   - isPatient: Whether to wait for a sync that is due for another reason. One starts within the interval of
    ///     `run`, or when the task is cancelled.
    ///   - site: The purpose of the wait. Tests can leave out the wait for `intent`; the records are then only written.
    /// - Throws: `JournalFault`: the journal is broken.
    package func sync(isPatient: Bool = false, for site: SyncSite = .journal) async throws(JournalFault) {
        if site == .intent, file.leavesOut(site) { return try write() }
        switch await outcome(isPatient: isPatient, isolation: #isolation) {
        case .durable: return
        case .broken(let error): throw .broken(error)
        case .unserved: try flush()
        }
    }

    private func outcome(isPatient: Bool, isolation: isolated (any Actor)?) async -> JournalSyncing.Outcome {
        await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it. Otherwise this would suspend on a thread of the pool.
            _ = isolation
            return await withCheckedContinuation { wait($0, isPatient: isPatient) }
        } onCancel: {
            state.withLock { $0.syncing.hurry() }
            wakeUp.signal()
        }
    }

    /// Syncs for all waiting callers, on a dedicated thread, until the task is cancelled. Then it syncs the remaining
    /// records and returns.
    ///
    /// - Parameters:
    ///   - interval: how long a record that no caller waits for stays unsynced at most.
    ///   - results: how many notifications' results may be unsynced at most; any other record counts as one.
    /// - Throws: `JournalFault`: the journal is broken; the daemon must stop sending and exit.
    package func run(every interval: Duration, results: Int) async throws(JournalFault) {
        let worker: WorkerThread
        do {
            worker = try WorkerThread(name: "journal")
        } catch {
            throw .broken(error)
        }
        defer { worker.stop() }
        state.withLock { $0.syncing.begin(every: interval, results: results) }
        let syncer = Syncer(worker)
        let fault = await withTaskCancellationHandler {
            await syncer.serve(self)
        } onCancel: {
            state.withLock { $0.syncing.end() }
            wakeUp.signal()
        }
        if let fault { throw fault }
    }

    private func wait(_ continuation: CheckedContinuation<JournalSyncing.Outcome, Never>, isPatient: Bool) {
        let outcome: JournalSyncing.Outcome? = state.withLock { state in
            if let fault = state.fault { return .broken(fault) }
            if state.durableCount >= state.appendedCount { return .durable }
            // A caller cancelled after this check wakes the syncing thread itself.
            let isPatient = isPatient && !Task.isCancelled
            return state.syncing.add(continuation, count: state.appendedCount, isPatient: isPatient) ? nil : .unserved
        }
        if let outcome { return continuation.resume(returning: outcome) }
        if !isPatient || Task.isCancelled { wakeUp.signal() }
    }

    /// Runs the sync loop until the end. Blocks its dedicated thread.
    fileprivate func serve() throws(JournalFault) {
        while true {
            let turn = try checked { state in
                state.syncing.turn(unsynced: state.appendedCount - state.durableCount, since: state.dirtySince)
            }
            switch turn {
            case .sync: try flush()
            case .sleep(let deadline): wakeUp.wait(until: deadline)
            case .end: return
            }
        }
    }
}

/// Runs the sync loop on the journal's thread.
private actor Syncer {
    private let worker: WorkerThread

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    init(_ worker: WorkerThread) {
        self.worker = worker
    }

    func serve(_ journal: Journal) -> JournalFault? {
        do throws(JournalFault) {
            try journal.serve()
            return nil
        } catch {
            return error
        }
    }
}
