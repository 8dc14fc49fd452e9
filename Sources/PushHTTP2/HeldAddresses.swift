import PushModel

/// The addresses on hold because the gateway has received too many requests for them.
struct HeldAddresses {
    /// The end of each address's hold.
    private var ends: [Address: Moment] = [:]
    /// The number of entries above which expired ones are removed.
    private var limit = 1024

    /// Whether no address is on hold.
    var isEmpty: Bool { ends.isEmpty }

    /// When an address's hold ends; `nil` if it is not on hold.
    func end(of address: Address) -> Moment? { ends[address] }

    /// Puts an address on hold until `end`.
    mutating func hold(_ address: Address, until end: Moment) {
        ends[address] = end
    }

    /// Removes the holds of a batch's addresses.
    mutating func free(_ batch: Batch) {
        for index in batch.indices where !isEmpty { ends[batch.address(at: index)] = nil }
    }

    /// Removes the expired holds of released notifications.
    ///
    /// Holds whose notifications no longer wait are removed when the number of entries has doubled since the last such
    /// pass. A pass over all entries for each release would cost O(*n*²).
    mutating func free(_ released: [Batch], at now: Moment) {
        guard !isEmpty else { return }
        for batch in released {
            for index in batch.indices {
                let address = batch.address(at: index)
                if let end = ends[address], end <= now { ends[address] = nil }
            }
        }
        guard ends.count > limit else { return }
        ends = ends.filter { $0.value > now }
        limit = max(1024, 2 * ends.count)
    }
}
