import JournalModel
import LinuxIO

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

extension ClusterTerms {
    /// Checks that each other daemon on the spool is a node of a cluster. Waits for those that are starting.
    ///
    /// - Throws: `SpoolFault`: one works alone, or has not said within `patience` that it does not; `SystemError`: a journal
    ///   cannot be read.
    func requireClustered(_ root: Directory, besides node: String) throws {
        let deadline = ContinuousClock.now + patience
        for peer in try PeerFolder.all(inRoot: root, besides: [node]) {
            while try peer.state() == .locked {
                let beat = try peer.beat()
                if let beat, beat.end != .alone { break }
                guard beat == nil, .now < deadline else {
                    throw SpoolFault.isInUse(by: peer.node, root, isClustered: true)
                }
                SystemThread.sleep(milliseconds: 100)
            }
        }
    }

    /// Waits for a starting node's own journal, and asks for it in case that another node stands in for this one.
    ///
    /// - Returns: `nil` if it is still locked after `patience`.
    /// - Throws: `SystemError`: as `JournalLock.init`.
    func lock(of node: String, in directory: Directory) throws(SystemError) -> JournalLock? {
        guard patience > .zero else { return nil }
        let deadline = ContinuousClock.now + patience
        var lock: JournalLock?
        var nextRequest = ContinuousClock.now
        while lock == nil, .now < deadline {
            if nextRequest <= .now {
                // A third node may have got the journal meanwhile, and have taken an earlier request for an old one.
                try ReturnRequest.publish(in: directory)
                nextRequest = .now + .seconds(2)
            }
            SystemThread.sleep(milliseconds: 100)
            lock = try JournalLock(of: node, in: directory)
        }
        try ReturnRequest.withdraw(in: directory)
        return lock
    }
}
