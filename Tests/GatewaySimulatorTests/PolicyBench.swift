import APNSBinary
import PushModel

@testable import GatewaySimulator

/// One connection of a gateway without a socket, at whatever time the test likes.
struct PolicyBench {
    private(set) var state: GatewayState
    private var policy: GatewayPolicy
    private var unread: [UInt8] = []
    private(set) var now = Moment.zero

    init(_ script: String = "", rules: GatewayRules = GatewayRules()) throws {
        state = GatewayState(
            rules: rules, ledger: Ledger(), feedback: FeedbackList())
        state.start(try FaultScript(script))
        policy = GatewayPolicy(connection: state.ledger.noteConnection(), at: .zero, sharing: &state)
    }

    /// What arrived.
    var ledger: Ledger { state.ledger }

    /// The identifiers of the notifications that were accepted.
    var accepted: [UInt32] { Sample.accepted(ledger) }

    /// Opens another connection to the same gateway, which the bench is about from now on.
    mutating func reconnect() {
        unread = []
        policy = GatewayPolicy(connection: state.ledger.noteConnection(), at: now, sharing: &state)
    }

    /// Hands bytes in as a shell does.
    mutating func receive(_ bytes: [UInt8]) {
        unread += bytes
        policy.didRead(bytes.count, at: now)
        retry()
    }

    /// Hands in again what is left, as a shell does after a wait.
    mutating func retry() {
        let time = GatewayPolicy.Now(moment: now, wallTime: WallTime(nanoseconds: now.nanoseconds))
        let bytes = unread
        unread.removeFirst(policy.consume(bytes.span, at: time, sharing: &state))
    }

    /// The peer ends its stream.
    mutating func end() {
        policy.peerEnded()
    }

    /// Lets time pass.
    mutating func advance(by duration: Duration) {
        now = now + duration
    }

    /// What the shell has to do next.
    mutating func step() -> GatewayPolicy.Step {
        policy.step(at: now)
    }

    /// Sends what the shell has to send, and how the connection ends then.
    mutating func farewell() -> (bytes: [UInt8], last: GatewayPolicy.Step) {
        let first = step()
        guard case .send(let bytes) = first else { return ([], first) }
        return (bytes, step())
    }
}
