import LinuxIO
import SpoolStore
import Synchronization

/// Watches the spool on a thread of its own, because watching an app means opening its folders, and that may hang.
actor SpoolWatcher {
    private struct View {
        var apps: Set<String> = []
        var overflowCount = 0
    }

    /// The thread on which folders are opened.
    private let worker: WorkerThread
    private let view = Mutex(View())

    init(_ worker: WorkerThread) {
        self.worker = worker
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Whether an app's `new/` is watched; otherwise it is polled.
    nonisolated func isWatching(_ app: String) -> Bool { view.withLock { $0.apps.contains(app) } }

    /// How often the kernel's event queue overflowed.
    nonisolated var overflowCount: Int { view.withLock(\.overflowCount) }

    /// Passes hints to the daemon until the task is cancelled or the watch ends.
    ///
    /// - Throws: The error that prevents watching altogether; the spool must be polled.
    func run(_ spool: Spool, for daemon: Daemon) async throws {
        let watch = try SpoolWatch(spool)
        defer { watch.stop() }
        note(watch)
        await daemon.noteWatched()
        while let hints = await watch.next() {
            if hints.contains(where: \.isOfApp) { note(watch) }
            await daemon.pass(hints)
        }
        view.withLock { $0.apps = [] }
    }

    private func note(_ watch: SpoolWatch) {
        view.withLock { $0 = View(apps: watch.watched, overflowCount: watch.overflowCount) }
    }
}

extension SpoolHint {
    /// Whether the hint concerns an app rather than a job.
    fileprivate var isOfApp: Bool {
        switch self {
        case .job: false
        case .app, .appGone, .everything: true
        }
    }
}
