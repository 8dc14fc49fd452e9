import SpoolModel
import Synchronization

/// Whether an app takes jobs, drains or ends, and what it shows: for any thread, without waiting for the app, which may hang.
final class AppLifecycle: Sendable {
    /// What the status is to say of the app.
    let shown: Mutex<SpoolStatus.App>
    private let draining = Atomic(false)
    private let stopping = Atomic(false)
    private let ending = Atomic(false)
    private let idle = Atomic(true)

    init(of app: String) {
        shown = Mutex(SpoolStatus.App(name: app, state: .starting))
    }

    /// Whether no further jobs are taken.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Whether the app is to end now.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Whether its connections are being cut because it ends.
    var isEnding: Bool { ending.load(ordering: .relaxed) }

    /// Whether no job was under way when the app last looked.
    var isIdle: Bool { idle.load(ordering: .relaxed) }

    /// Asks the app to take no further jobs.
    func drain() { draining.store(true, ordering: .relaxed) }

    /// Asks the app to end.
    func stop() { stopping.store(true, ordering: .relaxed) }

    /// Notes that the app ends.
    func noteEnding() { ending.store(true, ordering: .relaxed) }

    /// Notes whether a job is under way.
    func note(isIdle: Bool) { idle.store(isIdle, ordering: .relaxed) }
}
