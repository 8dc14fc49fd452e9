/// The times of a node of a cluster.
package struct ClusterTerms: Hashable, Sendable {
    /// For how long a heartbeat entitles the node to act. Its mark says so, and another node waits so long before it acts
    /// in its place.
    package var leaseLength = Duration.seconds(5)
    /// How long a starting node waits for its own journal: for its own former lock on a file server, or for the node
    /// that finishes its jobs.
    package var patience = Duration.seconds(60)

    /// Creates the usual terms.
    package init() {}
}
