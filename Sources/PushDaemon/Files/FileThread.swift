import Configuration
import LinuxIO
import SpoolStore

/// The threads for the files of one filesystem. When the filesystem hangs, only the apps on it wait.
///
/// A `FileThread` exists as long as the process, since an unmounted filesystem may come back.
actor FileThread {
    /// The thread for file operations.
    nonisolated let worker: WorkerThread
    /// Syncs archived files.
    nonisolated let archives: ArchiveSync
    /// Decides which job is read next.
    nonisolated let turns: TurnGate

    init(_ worker: WorkerThread) throws(SystemError) {
        self.worker = worker
        archives = try ArchiveSync()
        turns = TurnGate(on: worker)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Opens an app. This takes as long as its filesystem needs.
    ///
    /// - Throws: The errors of `AppRunner.init` and `AppRunner.readOn`.
    func open(
        _ app: ConfigurationSet.App, in around: DaemonContext, left: LeftBehind
    ) async throws -> AppRunner {
        let runner = try AppRunner(app.configuration, app.identity, in: around, left: left)
        while try await runner.readOn() { await worker.yield() }
        return runner
    }
}
