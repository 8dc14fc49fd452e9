import APNSBinary
import APNSHTTP2
package import APNSModel
package import LinuxIO
package import Logging

/// One app's way to a gateway, whatever protocol it speaks: batches in, outcomes out.
///
/// Connects to nothing until there is work, and lives on the reactor's thread. `run` must be running for anything to
/// move.
package protocol PushGateway: Actor {
    /// What happens, in order. Ends when `run` does.
    nonisolated var events: GatewayEvents { get }

    /// Serves until the task is cancelled; then connections are cut and what was on them stays without an outcome.
    func run() async

    /// Hands batches of one lane over, each behind all other work of its job. Waits while the lane is full; other lanes do
    /// not wait with it. Every call is a hand-over between threads: for small batches, several at a time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; none was taken then.
    func submit(_ batches: [Batch]) async throws

    /// Notes that the owner has recorded so many settled notifications for good; see `RecordKeeping`.
    func recorded(_ count: Int)

    /// Lets go what was told with `GatewayEvent.announcing`: the owner has recorded for good that it is about to be written.
    func announced(_ batches: [Batch])

    /// Takes back what waits of a job, also for another try; what is on a connection still gets its outcome.
    func remove(_ job: JobID) -> [Batch]

    /// Takes back a job that was handed over in so many notifications if all of them wait and none was ever on a connection: the
    /// gateway cannot have got it, and it may be sent under another id. Else it changes nothing.
    ///
    /// - Returns: What it has taken back; none if some do not wait here at present; `nil` if one was written, which stays so.
    func removeUnwritten(_ job: JobID, count: Int) -> [Batch]?

    /// Uses another configuration from the next connection on; those of the old one settle and close.
    ///
    /// A stopped app starts again.
    ///
    /// - Returns: Whether it is one for this protocol; if not, nothing was changed.
    func reconfigure(_ configuration: GatewayConfiguration) -> Bool

    /// Sends nothing more that is not yet written; connections settle what is in doubt and close.
    func drain()

    /// Whether nothing that is not yet written is sent, until this is called again: connections settle what is in doubt and
    /// close, and what waits goes on waiting.
    func setPaused(_ isPaused: Bool)

    /// How many notifications have been written and have no outcome.
    var pendingInDoubt: Int { get }

    /// Whether anything waits to be sent now, or was sent and has no outcome; what pauses does neither.
    var isAtWork: Bool { get }
}

/// Where an app's notifications go, and how: one protocol or the other.
package enum GatewayConfiguration: Sendable {
    /// The binary protocol, of compatible gateways.
    case binary(BinaryGateway.Configuration)
    /// HTTP/2, Apple's own.
    case http2(HTTP2Gateway.Configuration)

    /// Makes a gateway of this configuration.
    package func makeGateway(
        recordKeeping: RecordKeeping, on reactor: Reactor, logger: Logger
    ) -> any PushGateway {
        switch self {
        case .binary(let configuration):
            BinaryGateway(configuration, recordKeeping: recordKeeping, on: reactor, logger: logger)
        case .http2(let configuration):
            HTTP2Gateway(configuration, recordKeeping: recordKeeping, on: reactor, logger: logger)
        }
    }
}

extension BinaryGateway: PushGateway {
    /// Whether anything waits to be sent, or was sent and has no outcome.
    package var isAtWork: Bool { !queue.isBlocked || queue.unannouncedCount > 0 || pendingInDoubt > 0 }

    /// Uses another configuration from the next connection on, if it is one for the binary protocol.
    package func reconfigure(_ configuration: GatewayConfiguration) -> Bool {
        guard case .binary(let configuration) = configuration else { return false }
        reconfigure(configuration)
        return true
    }
}

extension HTTP2Gateway {
    /// Whether anything waits to be sent now, or was sent and has no outcome; what pauses does neither.
    package var isAtWork: Bool { !queue.isBlocked || queue.unannouncedCount > 0 || pendingInDoubt > 0 }

    /// Uses another configuration from the next connection on, if it is one for HTTP/2.
    package func reconfigure(_ configuration: GatewayConfiguration) -> Bool {
        guard case .http2(let configuration) = configuration else { return false }
        reconfigure(configuration)
        return true
    }
}
