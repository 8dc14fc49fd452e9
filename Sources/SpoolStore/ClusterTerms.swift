/// The times that the nodes of a cluster agree on.
package struct ClusterTerms: Hashable, Sendable {
    /// For how long a heartbeat entitles a node to act, and how long another one waits before it acts in its place.
    package var leaseLength = Duration.seconds(5)
    /// How long a starting node waits for its own journal: for its own former lock on a file server, or for the node
    /// that finishes its jobs.
    package var patience = Duration.seconds(60)

    /// Creates the usual terms.
    package init() {}
}
