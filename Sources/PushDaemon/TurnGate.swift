import APNSModel
import LinuxIO
import SpoolModel

/// Hands out turns on a thread for files: a batch of one job is read at a time, and it is said here whose is the next.
///
/// Every app asks once for each of its lanes, and only while its gateway has room for more: so apps take turns within a lane,
/// and those that cannot send are not looked at. A turn must not wait for anything but the disk.
actor TurnGate {
    private let worker: WorkerThread
    private var asking = Scheduler<CheckedContinuation<Void, Never>>()
    private var isTaken = false

    init(on worker: WorkerThread) {
        self.worker = worker
    }

    /// The thread where files are worked on.
    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Waits for a turn in a lane. `leave` must follow, also in a task that was cancelled.
    func enter(_ lane: Lane) async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { asking.ask($0, in: lane) }
    }

    /// Ends a turn; the next one begins.
    func leave() {
        if let next = asking.next() { next.resume() } else { isTaken = false }
    }
}
