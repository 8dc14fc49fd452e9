import LinuxIO
import SharedResources
import SpoolModel
import Synchronization

/// An app's lifecycle state and status, which any thread may read without waiting for the app, which may hang.
final class AppLifecycle: Sendable {
    /// The app's part of the status.
    let shown: Mutex<SpoolStatus.App>
    private let draining = Atomic(false)
    private let stopping = Atomic(false)
    private let ending = Atomic(false)
    private let working = Atomic(false)
    private let idle = Atomic(true)
    private let idleWakeup: Wakeup

    init(of app: String, in daemon: DaemonContext) {
        idleWakeup = daemon.idleWakeup
        shown = Mutex(SpoolStatus.App(name: app, state: .starting))
    }

    /// Whether no further jobs are taken.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Whether the app must stop now.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Whether its connections are being cut because it stops.
    var isEnding: Bool { ending.load(ordering: .relaxed) }

    /// Whether there was ever anything to send, record or publish.
    var hasWorked: Bool { working.load(ordering: .relaxed) }

    /// Whether no job was under way when this was last recorded.
    var isIdle: Bool { idle.load(ordering: .relaxed) }

    /// Asks the app to take no further jobs.
    func drain() { draining.store(true, ordering: .relaxed) }

    /// Asks the app to stop.
    func stop() { stopping.store(true, ordering: .relaxed) }

    /// Records that the app stops.
    func noteEnding() { ending.store(true, ordering: .relaxed) }

    /// Records that there is something to send, record or publish.
    func noteWork() { working.store(true, ordering: .relaxed) }

    /// Records whether any job is under way.
    func note(isIdle: Bool) {
        let wasIdle = idle.exchange(isIdle, ordering: .relaxed)
        if isIdle, !wasIdle { idleWakeup.signal() }
    }
}
