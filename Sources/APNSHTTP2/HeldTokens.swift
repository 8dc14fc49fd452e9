import APNSModel

/// The device tokens to which nothing is sent for a while, since the gateway has got too many requests for them.
struct HeldTokens {
    /// When each may be sent to again.
    private var ends: [[UInt8]: Moment] = [:]
    /// How many there may be before those are looked for whose time is over.
    private var limit = 1024

    /// Whether there are none.
    var isEmpty: Bool { ends.isEmpty }

    /// When a token may be sent to again; `nil` when it may be now.
    func end(of token: ArraySlice<UInt8>) -> Moment? { ends[Array(token)] }

    /// Holds a token until then.
    mutating func hold(_ token: ArraySlice<UInt8>, until end: Moment) {
        ends[Array(token)] = end
    }

    /// Frees the tokens of what was released.
    ///
    /// Those of which nothing pauses any more are looked for when there are twice as many as were left the last time: a look at
    /// all of them for each release would cost O(*n*²).
    mutating func free(_ released: [Batch], at now: Moment) {
        guard !isEmpty else { return }
        for batch in released {
            for index in batch.indices {
                let token = Array(batch.token(at: index))
                if let end = ends[token], end <= now { ends[token] = nil }
            }
        }
        guard ends.count > limit else { return }
        ends = ends.filter { $0.value > now }
        limit = max(1024, 2 * ends.count)
    }
}
