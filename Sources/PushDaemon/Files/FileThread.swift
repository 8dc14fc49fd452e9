import LinuxIO
import SpoolStore

/// The threads for the files of one filesystem: when it hangs, only the apps that are on it wait.
///
/// It lives as long as the process: a filesystem that is unmounted may come back.
actor FileThread {
    /// Where files are worked on.
    nonisolated let worker: WorkerThread
    /// Syncs what was archived.
    nonisolated let archives: ArchiveSync
    /// Says whose job is read on next.
    nonisolated let turns: TurnGate

    init(_ worker: WorkerThread) throws(SystemError) {
        self.worker = worker
        archives = try ArchiveSync()
        turns = TurnGate(on: worker)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Opens an app, which may take as long as its filesystem likes.
    ///
    /// - Throws: as `AppRunner.init` and `AppRunner.readOn`.
    func open(
        _ app: ConfigurationSet.App, in around: DaemonContext, left: LeftBehind
    ) async throws -> AppRunner {
        let runner = try AppRunner(app.configuration, app.identity, in: around, left: left)
        while try await runner.readOn() { await worker.yield() }
        return runner
    }
}
