import APNSModel

/// The last part of a simulated connection, whatever was spoken over it.
enum Closing: Hashable {
    /// Both sides are saying good-bye.
    case draining(until: Moment)
    /// Open for ever and deaf.
    case staying
    case over

    /// Begins an end, and says what the shell has to do first; `nil`: ask for the next step.
    static func begin(_ ending: FaultAction.Ending, at now: Moment) -> (closing: Closing, step: GatewayPolicy.Step?) {
        let deadline = now + GatewayPolicy.drainTime
        return switch ending {
        case .close: (.draining(until: now), .close(until: deadline))
        case .cut: (.draining(until: deadline), .cut)
        case .reset: (.over, .release(resetting: true))
        case .stay: (.staying, nil)
        }
    }

    /// What the shell has to do next; `nil`: read on, as ever.
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
