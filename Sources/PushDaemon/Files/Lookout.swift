import LinuxIO
import SpoolStore
import Synchronization

/// Keeps the watch over the spool, on a thread of its own: an app is followed by opening its folders, and they may hang.
actor Lookout {
    private struct View {
        var apps: Set<String> = []
        var overflowCount = 0
    }

    /// Where folders are opened.
    private let worker: WorkerThread
    private let view = Mutex(View())

    init(_ worker: WorkerThread) {
        self.worker = worker
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Whether what happens in an app's `new/` is seen; if not, it is polled.
    nonisolated func isWatching(_ app: String) -> Bool { view.withLock { $0.apps.contains(app) } }

    /// How often the kernel's queue of events was full.
    nonisolated var overflowCount: Int { view.withLock(\.overflowCount) }

    /// Passes on what is seen, until the task is cancelled or nothing more can be seen.
    ///
    /// - Throws: what keeps it from watching at all: poll.
    func run(for daemon: Daemon) async throws {
        let watch = try SpoolWatch(daemon.spool)
        defer { watch.stop() }
        note(watch)
        await daemon.noteWatched()
        while let hints = await watch.next() {
            if hints.contains(where: \.isOfApp) { note(watch) }
            await daemon.take(hints)
        }
        view.withLock { $0.apps = [] }
    }

    private func note(_ watch: SpoolWatch) {
        view.withLock { $0 = View(apps: watch.watched, overflowCount: watch.overflowCount) }
    }
}

extension SpoolHint {
    /// Whether it tells of an app, not of a job.
    fileprivate var isOfApp: Bool {
        switch self {
        case .job: false
        case .app, .appGone, .everything: true
        }
    }
}
