import SpoolModel
import Synchronization

/// Counts what happens to an app: its runner does, and whoever tells reads, without asking a runner that may hang.
///
/// Belongs to the daemon, and so counts on when another runner takes over.
final class AppMeter: Sendable {
    private let state = Mutex(AppMetrics())

    /// What was counted so far.
    var metrics: AppMetrics { state.withLock { $0 } }

    /// Counts something.
    func count(_ change: (inout AppMetrics) -> Void) {
        state.withLock { change(&$0) }
    }
}
