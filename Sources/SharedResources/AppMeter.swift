package import SpoolModel
import Synchronization

/// The metrics of an app. Its runner counts, and any thread can read them without asking the runner, which may hang.
///
/// Belongs to the daemon, so that counting continues when another runner takes over.
package final class AppMeter: Sendable {
    private let state = Mutex(AppMetrics())

    /// Creates metrics of an app that has done nothing.
    package init() {}

    /// The current metrics.
    package var metrics: AppMetrics { state.withLock { $0 } }

    /// Changes the metrics.
    package func count(_ change: (inout AppMetrics) -> Void) {
        state.withLock { change(&$0) }
    }
}
