import Configuration
import DoorModel

/// A way for clients to drop jobs.
protocol Door: Actor {
    /// Its name in the configuration, in logs and in metrics.
    nonisolated var name: String { get }

    /// Opens the address. Clients wait until `run`.
    ///
    /// - Throws: `SystemError`: the address is in use, or cannot be used.
    func listen() throws

    /// Serves until the task is cancelled.
    func run() async

    /// Applies a configuration without errors. The address stays.
    func configure(_ set: DoorSet) async

    /// What it has done, and is doing.
    var figures: DoorCounts { get }

    /// Takes no more clients, and lets those that are connected end.
    func beginStopping()

    /// Waits until all requests are answered, or the deadline.
    func awaitIdle(until deadline: ContinuousClock.Instant) async
}
