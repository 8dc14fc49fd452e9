import LinuxIO

/// Lets only so many hooks run at a time, whatever the number of apps.
actor HookGate {
    /// How many run side by side.
    static let limit = 8

    private let worker: WorkerThread
    private var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(on worker: WorkerThread) {
        self.worker = worker
    }

    /// The thread where files are worked on.
    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Waits for a place. `leave` must follow, also in a task that was cancelled.
    func enter() async {
        if count < Self.limit {
            count += 1
        } else {
            // The place of the one that leaves.
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// Gives the place to the one that has waited longest.
    func leave() {
        if waiting.isEmpty { count -= 1 } else { waiting.removeFirst().resume() }
    }
}
