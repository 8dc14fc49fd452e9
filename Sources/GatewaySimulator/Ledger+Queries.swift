extension Ledger {
    /// The notifications that were accepted, in order; needs `.everything`.
    public var accepted: [Entry] {
        entries.indices.filter { entries.outcome(at: $0) == .accepted }.map { entries[$0] }
    }

    /// The tokens of the notifications that were accepted, in order; needs `.everything`.
    public var acceptedTokens: [[UInt8]] { accepted.map(\.token) }

    /// The notifications that were refused, in order; needs `.everything`.
    public var refused: [Entry] {
        entries.filter {
            switch $0.outcome {
            case .refused, .rejected: true
            case .accepted, .discarded: false
            }
        }
    }

    /// How often each token was accepted that was accepted more than once; needs `.everything`.
    public var duplicates: [[UInt8]: Int] {
        acceptedTokens.reduce(into: [:]) { $0[$1, default: 0] += 1 }.filter { $0.value > 1 }
    }

    /// How often each `apns-id` was accepted that was accepted more than once; needs `.everything`.
    public var duplicateIDs: [String: Int] {
        accepted.compactMap(\.request?.id).reduce(into: [:]) { $0[$1, default: 0] += 1 }.filter { $0.value > 1 }
    }

    /// What a connection brought, in order; needs `.everything`.
    public func entries(ofConnection number: Int) -> [Entry] {
        entries.filter { $0.connection == number }
    }
}
