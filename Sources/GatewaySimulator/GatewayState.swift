import APNSBinary

/// The state that the connections of a simulated gateway share. Belongs to one actor; reads no clock.
struct GatewayState: Sendable {
    var rules: GatewayRules
    var script: ScriptRun
    var ledger: Ledger
    var feedback: FeedbackList
    var requestTerms = RequestTerms()
    var channels = ChannelStore()
    var http2Script = ScriptRun(.none, over: .http2)
    var manner = HTTP2Manner()

    /// Records a notification and its outcome.
    mutating func note(_ frame: NotificationFrame, of bytes: Span<UInt8>, as arrival: Ledger.Arrival) {
        ledger.note(frame, of: bytes, as: arrival)
        feedback.note(frame, of: bytes, as: arrival)
    }
}
