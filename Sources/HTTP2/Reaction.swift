/// The results of one call of `receive`: events for the caller and frames for the peer.
struct Reaction {
    var arrivals: Arrivals
    var output: [UInt8]
    /// Whether the events already include `.limitsChanged`.
    private var hasLimitsChanged = false

    /// Moves both buffers here and leaves empty ones, so that their storage is uniquely referenced.
    init(taking arrivals: inout Arrivals, _ output: inout [UInt8]) {
        self.arrivals = arrivals
        self.output = output
        arrivals = Arrivals()
        output = []
    }

    /// Moves both buffers back.
    func moveBack(to arrivals: inout Arrivals, _ output: inout [UInt8]) {
        arrivals = self.arrivals
        output = self.output
    }

    /// Reports that limits changed, once per call.
    mutating func limitsChanged() {
        guard !hasLimitsChanged else { return }
        hasLimitsChanged = true
        arrivals.events.append(.limitsChanged)
    }
}
