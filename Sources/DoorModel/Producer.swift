package import PushModel

/// Somebody who may drop jobs through a door.
package struct Producer: Hashable, Sendable {
    /// The name in the configuration, and in logs and metrics.
    package let name: String
    /// The apps that it may drop jobs for; `nil`: all.
    package var apps: Set<String>?
    /// The most notifications per unit of time; `nil`: unlimited.
    package var rate: Rate?

    /// Creates a producer for all apps, without a limit.
    package init(name: String) {
        self.name = name
    }

    /// Whether it may drop jobs for an app.
    package func may(use app: String) -> Bool { apps?.contains(app) ?? true }
}
