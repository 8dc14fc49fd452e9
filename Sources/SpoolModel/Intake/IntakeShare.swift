import Document
package import JobFormat

/// Which files in `new/` a node of a cluster takes first, so that the nodes do not all try the same ones.
///
/// Each name has an order of the nodes (rendezvous hashing): the first takes it at once, the second once it was there in
/// two more scans, the third after two more, and so on. So a name whose node is busy or has died is not left. Nodes need
/// not agree on who runs, since a claim is exclusive; a difference only costs lost races.
package struct IntakeShare: Sendable {
    /// How many scans each node leaves a name to those before it in the name's order.
    package static let scansPerRank = 2
    /// How many names are remembered. Further ones are left to their first node until there is room.
    package static let nameLimit = 100_000

    private let own: String
    private var nodes: [String]
    /// The names that were left to others, with the number of scans that found them.
    private var left: [FileName: Int] = [:]
    private var found: [FileName: Int] = [:]

    /// Creates the share of a node that knows no other.
    package init(of node: String) {
        (own, nodes) = (node, [node])
    }

    /// Begins a scan.
    ///
    /// - Parameter nodes: The nodes that run.
    package mutating func beginScan(with nodes: [String]) {
        self.nodes = nodes
    }

    /// Whether this node takes a name that a scan found. Call it once in a scan for each name.
    package mutating func takesListed(_ name: FileName) -> Bool {
        let rank = rank(of: name)
        guard rank > 0 else { return true }
        let count = left[name, default: 0]
        guard count < rank * Self.scansPerRank else { return true }
        if found.count < Self.nameLimit { found[name] = count + 1 }
        return false
    }

    /// Whether this node is the first in the order of a name, so that it takes it as soon as the watch reports it.
    package func takesAtOnce(_ name: FileName) -> Bool { rank(of: name) == 0 }

    /// Ends a scan, and forgets the names that it did not find.
    package mutating func endScan() {
        (left, found) = (found, [:])
    }

    /// Returns the place of this node in the order of a name, from 0. Costs a hash of the name for each node.
    func rank(of name: FileName) -> Int {
        guard nodes.count > 1 else { return 0 }
        let score = Self.score(own, name)
        return nodes.count { $0 != own && Self.isFirst(($0, Self.score($0, name)), before: (own, score)) }
    }

    private static func isFirst(_ one: (node: String, score: UInt64), before other: (node: String, score: UInt64))
        -> Bool
    {
        one.score == other.score ? one.node < other.node : one.score > other.score
    }

    /// FNV-1a over the node, a zero byte and the name, then mixed so that short differences reach all bits.
    private static func score(_ node: String, _ name: FileName) -> UInt64 {
        var sum = FNV1a(node.utf8.span)
        sum.add([0].span)
        sum.add(name.bytes.span)
        var hash = sum.value
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
