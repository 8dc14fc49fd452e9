import APNSBinary

/// The state that the connections of a simulated gateway share. Belongs to one actor; reads no clock.
struct GatewayState: Sendable {
    var rules: GatewayRules
    var scripts: [Port: ScriptRun] = [:]
    var ledger: Ledger
    var feedback: FeedbackList
    var requestTerms = RequestTerms()
    var channels = ChannelStore()
    var fcm = FCMState()
    var manners: [Port: HTTP2Manner] = [:]

    /// Returns the behavior over HTTP/2 on a port.
    func manner(of port: Port) -> HTTP2Manner { manners[port] ?? HTTP2Manner() }

    /// Starts a script with all counts at zero, on each port for itself.
    mutating func start(_ script: FaultScript) {
        for port in Port.allCases { scripts[port] = ScriptRun(script, on: port) }
    }

    /// Records a notification and its outcome.
    mutating func note(_ frame: NotificationFrame, of bytes: Span<UInt8>, as arrival: Ledger.Arrival) {
        ledger.note(frame, of: bytes, as: arrival)
        feedback.note(frame, of: bytes, as: arrival)
    }
}
