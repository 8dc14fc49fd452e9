import Synchronization

/// The nodes of the cluster that run, as this daemon saw them last. Any thread may ask.
package final class ClusterView: Sendable {
    /// This daemon's own node.
    package let own: String
    private let state: Mutex<[String]>
    private let orphaned = Atomic(true)

    /// Creates the view of a node that has seen no other one yet.
    package init(of node: String) {
        own = node
        state = Mutex([node])
    }

    /// The nodes whose journal somebody has, this one included, in order: those that run, and those that others stand in for.
    package var nodes: [String] { state.withLock { $0 } }

    /// Whether a node has died whose jobs nobody has finished yet, or may have, before the first look.
    package var hasOrphans: Bool { orphaned.load(ordering: .relaxed) }

    /// Records the other nodes, and whether one has died whose jobs nobody has finished yet.
    package func note(others: some Collection<String>, hasOrphans: Bool) {
        state.withLock { $0 = Set(others).union([own]).sorted() }
        orphaned.store(hasOrphans, ordering: .relaxed)
    }
}
