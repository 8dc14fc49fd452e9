package import LinuxIO
package import PushModel
import SpoolModel

/// Schedules turns on a thread for files. In each turn one batch of one job is read, and the gate decides whose turn is
/// next.
///
/// Each app asks at most once for each of its lanes, and only while its gateway has room for more. So the apps take
/// turns within a lane, and apps that cannot send are skipped. A turn must not wait for anything but the disk.
package actor TurnGate {
    private let worker: WorkerThread
    private var asking = Scheduler<CheckedContinuation<Void, Never>>()
    private var isTaken = false

    /// Creates a gate for the files that this thread reads.
    package init(on worker: WorkerThread) {
        self.worker = worker
    }

    /// The executor of the thread for file operations.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Waits for a turn in a lane. Always call `leave` afterwards, even if the task was cancelled.
    package func enter(_ lane: Lane) async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { asking.ask($0, in: lane) }
    }

    /// Ends a turn, and lets the next one begin.
    package func leave() {
        if let next = asking.next() { next.resume() } else { isTaken = false }
    }
}
