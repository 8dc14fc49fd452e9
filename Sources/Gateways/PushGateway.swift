package import LinuxIO
package import Logging
package import PushModel

/// Delivers one app's notifications over either protocol: takes batches, reports outcomes.
///
/// Does not connect until there is work, and runs on the reactor's thread. Nothing is sent unless `run` is running.
package protocol PushGateway: Actor {
    /// The events, in order. They end when `run` does.
    nonisolated var events: GatewayEvents { get }

    /// Serves until the task is cancelled. Connections are cut then, and notifications on them stay without an outcome.
    func run() async

    /// Submits batches of one lane, each after all other work of its job. Waits while the lane is full; other lanes are
    /// not blocked. Each call switches threads, so submit several small batches at a time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; no batch was taken then.
    func submit(_ batches: [Batch]) async throws

    /// Notes that the owner has durably recorded `count` settled notifications; see `RecordKeeping`.
    func recorded(_ count: Int)

    /// Releases batches of `GatewayEvent.announcing`: the owner has durably recorded that they are about to be written.
    func announced(_ batches: [Batch])

    /// Releases the notifications of one job that back off, for an app that tries its gateway again and has no others.
    ///
    /// - Returns: Whether there are any.
    func releasePaused() -> Bool

    /// Removes and returns a job's waiting batches, including those that wait for a retry. Notifications on a
    /// connection still get their outcome.
    func remove(_ job: JobID) -> [Batch]

    /// Removes a job if all its `count` submitted notifications wait here and none was ever written to a connection.
    /// The gateway cannot have received it then, and it may be sent under another id. Otherwise changes nothing.
    ///
    /// - Returns: The removed batches; empty if some are not waiting here at present; `nil` if one was written, which
    ///   is final.
    func removeUnwritten(_ job: JobID, count: Int) -> [Batch]?

    /// Uses another configuration from the next connection on; connections of the old one settle and close.
    ///
    /// A stopped app starts again.
    ///
    /// - Returns: Whether it is for this protocol; if not, nothing changed.
    func reconfigure(_ configuration: GatewayConfiguration) -> Bool

    /// Stops sending unwritten notifications. Connections settle those in doubt and close.
    func drain()

    /// Pauses or resumes the sending of unwritten notifications. On a pause, connections settle those in doubt
    /// and close, and waiting notifications stay in the queue.
    func setPaused(_ isPaused: Bool)

    /// Divides the app's rate among this many senders, of which this gateway is one: the other nodes of a cluster.
    func shareRate(among count: Int)

    /// The number of notifications that were written and have no outcome, or an unreported one.
    var pendingInDoubt: Int { get }

    /// Whether any notification waits to be sent now, or was sent and has no outcome. Notifications that back off do
    /// not count.
    var isAtWork: Bool { get }
}

/// Where and how an app's notifications are sent, for one of the protocols.
package enum GatewayConfiguration: Sendable {
    /// The binary protocol of compatible gateways.
    case binary(BinaryWire.Configuration)
    /// HTTP/2, Apple's protocol.
    case http2(HTTP2Wire.Configuration)

    /// The number of notifications of a lane that may wait in memory before `submit` suspends its caller. Notifications
    /// that back off, or have backed off, do not count: `GatewayEvent.paused` lets the owner hold back their jobs.
    package static let queueLimit = 32_768

    /// The configuration of the protocol.
    var wire: any WireConfiguration {
        switch self {
        case .binary(let configuration): configuration
        case .http2(let configuration): configuration
        }
    }

    /// Creates a gateway with this configuration.
    package func makeGateway(
        recordKeeping: RecordKeeping = .none, on reactor: Reactor, logger: Logger
    ) -> any PushGateway {
        switch self {
        case .binary(let configuration):
            Gateway<BinaryWire>(configuration, recordKeeping: recordKeeping, on: reactor, logger: logger)
        case .http2(let configuration):
            Gateway<HTTP2Wire>(configuration, recordKeeping: recordKeeping, on: reactor, logger: logger)
        }
    }
}
