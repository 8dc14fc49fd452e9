import APNSModel

/// The device tokens on hold because the gateway has received too many requests for them.
struct HeldTokens {
    /// The end of each token's hold.
    private var ends: [[UInt8]: Moment] = [:]
    /// The number of entries above which expired ones are removed.
    private var limit = 1024

    /// Whether no token is on hold.
    var isEmpty: Bool { ends.isEmpty }

    /// When a token's hold ends; `nil` if it is not on hold.
    func end(of token: ArraySlice<UInt8>) -> Moment? { ends[Array(token)] }

    /// Puts a token on hold until `end`.
    mutating func hold(_ token: ArraySlice<UInt8>, until end: Moment) {
        ends[Array(token)] = end
    }

    /// Removes the holds of a batch's tokens.
    mutating func free(_ batch: Batch) {
        for index in batch.indices where !isEmpty { ends[Array(batch.token(at: index))] = nil }
    }

    /// Removes the expired holds of released notifications.
    ///
    /// Holds whose notifications no longer wait are removed when the number of entries has doubled since the last such
    /// pass. A pass over all entries for each release would cost O(*n*²).
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
