import PushModel

/// The closing phase of a simulated connection, for either protocol.
enum Closing: Hashable {
    /// Both sides are closing the connection.
    case draining(until: Moment)
    /// The connection stays open forever, and the gateway does not react to it.
    case staying
    case over

    /// Begins to close. Returns the shell's first step, or `nil` if the caller should determine the next step.
    static func begin(_ ending: FaultAction.Ending, at now: Moment) -> (closing: Closing, step: GatewayPolicy.Step?) {
        let deadline = now + GatewayPolicy.drainTime
        return switch ending {
        case .close: (.draining(until: now), .close(until: deadline))
        case .cut: (.draining(until: deadline), .cut)
        case .reset: (.over, .release(resetting: true))
        case .stay: (.staying, nil)
        }
    }

    /// Returns the shell's next step, or `nil` to continue reading.
    mutating func step(peerHasEnded: Bool, at now: Moment) -> GatewayPolicy.Step? {
        switch self {
        case .draining(let until) where !peerHasEnded && now < until:
            return .read(atMost: GatewayPolicy.chunkByteCount, until: until)
        case .staying where !peerHasEnded:
            return nil
        case .draining, .staying, .over:
            self = .over
            return .release(resetting: false)
        }
    }
}
