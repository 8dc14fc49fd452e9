/// What a call of `receive` collects: events for the caller, frames for the peer.
struct Reaction {
    var arrivals: Arrivals
    var output: [UInt8]
    /// Whether `.limitsChanged` is already among the events.
    private var hasLimitsChanged = false

    /// Takes over both, and leaves nothing behind, so that they are not shared.
    init(taking arrivals: inout Arrivals, _ output: inout [UInt8]) {
        self.arrivals = arrivals
        self.output = output
        arrivals = Arrivals()
        output = []
    }

    /// Puts both back.
    func give(to arrivals: inout Arrivals, _ output: inout [UInt8]) {
        arrivals = self.arrivals
        output = self.output
    }

    /// Says once in a call that limits changed.
    mutating func limitsChanged() {
        guard !hasLimitsChanged else { return }
        hasLimitsChanged = true
        arrivals.events.append(.limitsChanged)
    }
}
