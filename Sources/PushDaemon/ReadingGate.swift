import LinuxIO

/// Lets files be read side by side, or one of them while no other is: a file over which the daemon may have died.
actor ReadingGate {
    private let worker: WorkerThread
    private var readerCount = 0
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(on worker: WorkerThread) {
        self.worker = worker
    }

    /// The thread where files are worked on.
    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Waits until the file may be read.
    func enter(alone: Bool) async {
        while isTaken || alone && readerCount > 0 {
            await withCheckedContinuation { waiting.append($0) }
        }
        readerCount += 1
        isTaken = alone
    }

    /// The file has been read.
    func leave() {
        readerCount -= 1
        isTaken = false
        let woken = waiting
        waiting = []
        for continuation in woken { continuation.resume() }
    }
}
