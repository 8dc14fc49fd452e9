/// Which jobs go first.
package enum Lane: String, CaseIterable, Hashable, Sendable {
    /// Before all others.
    case urgent
    /// As dropped.
    case normal
    /// After all others.
    case bulk

    /// Its place in the order, 0 for the first: an index into what there is one of for each lane.
    package var rank: Int {
        switch self {
        case .urgent: 0
        case .normal: 1
        case .bulk: 2
        }
    }
}

/// Some of the lanes.
package struct LaneSet: OptionSet, Hashable, Sendable {
    /// A bit for each lane, the first one's the lowest.
    package let rawValue: UInt8

    /// Creates the set with these bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Creates the set of one lane.
    package init(_ lane: Lane) {
        rawValue = 1 << lane.rank
    }

    /// Creates the set of those lanes that `isWanted` says yes to.
    package init(where isWanted: (Lane) -> Bool) {
        let bits: (UInt8, UInt8, UInt8) = (
            isWanted(.urgent) ? 1 : 0, isWanted(.normal) ? 2 : 0, isWanted(.bulk) ? 4 : 0
        )
        rawValue = bits.0 | bits.1 | bits.2
    }

    /// All lanes.
    package static let all = LaneSet(rawValue: 0b111)

    /// The first of them; `nil` if there is none.
    package var first: Lane? {
        if contains(.urgent) { return .urgent }
        if contains(.normal) { return .normal }
        return contains(.bulk) ? .bulk : nil
    }

    /// Whether the lane is among them.
    package func contains(_ lane: Lane) -> Bool { contains(LaneSet(lane)) }
}
