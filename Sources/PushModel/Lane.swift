/// The priority class of a job in the daemon's queue.
package enum Lane: String, CaseIterable, Hashable, Sendable {
    /// Before all others.
    case urgent
    /// The default.
    case normal
    /// After all others.
    case bulk

    /// The position in the order of lanes, 0 for the first. Used as an index into arrays with one element per lane.
    package var rank: Int {
        switch self {
        case .urgent: 0
        case .normal: 1
        case .bulk: 2
        }
    }
}

/// A set of lanes.
package struct LaneSet: OptionSet, Hashable, Sendable {
    /// One bit per lane; the first lane is the lowest bit.
    package let rawValue: UInt8

    /// Creates a set from its bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Creates the set of one lane.
    package init(_ lane: Lane) {
        rawValue = 1 << lane.rank
    }

    /// Creates the set of the lanes that satisfy `isWanted`.
    package init(where isWanted: (Lane) -> Bool) {
        let bits: (UInt8, UInt8, UInt8) = (
            isWanted(.urgent) ? 1 : 0, isWanted(.normal) ? 2 : 0, isWanted(.bulk) ? 4 : 0
        )
        rawValue = bits.0 | bits.1 | bits.2
    }

    /// All lanes.
    package static let all = LaneSet(rawValue: 0b111)

    /// The first lane of the set, or `nil` if it is empty.
    package var first: Lane? {
        if contains(.urgent) { return .urgent }
        if contains(.normal) { return .normal }
        return contains(.bulk) ? .bulk : nil
    }

    /// Whether the set contains the lane.
    package func contains(_ lane: Lane) -> Bool { contains(LaneSet(lane)) }
}
