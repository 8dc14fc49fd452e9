import LinuxIO
import SpoolModel
import SpoolStore

/// Evaluates the jobs in `work/` of nodes that do not run.
struct LeftJobsJudgement {
    /// The facts.
    let facts: ClusterFacts
    /// Whether the daemon is a node of a cluster.
    let isClustered: Bool

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(isClustered ? .cluster : .daemon)
        for (node, count) in facts.jobCounts.sorted(by: { $0.key < $1.key }) where node != facts.node {
            guard let peer = facts.peers.first(where: { $0.node == node }) else {
                note(node, count, .noJournal, in: &book)
                continue
            }
            guard case .free? = peer.state else { continue }
            if let fault = peer.journalFault {
                note(node, count, .unusableJournal(fault), in: &book)
                continue
            }
            // A cluster has its own findings about nodes with a journal.
            guard !isClustered else { continue }
            if let filesystem = facts.filesystem, filesystem.isShared {
                note(node, count, .untrustedLocks("\(filesystem)"), in: &book)
            } else {
                book.warn(
                    "\(Self.jobs(count)) of node \(node), which does not run",
                    hint: "a running daemon finishes them, if it has their apps; see pushspool status")
            }
        }
        return book.findings
    }

    private func note(
        _ node: String, _ count: Int, _ reason: SpoolStatus.LeftNode.Reason, in book: inout FindingBook
    ) {
        book.fault("\(Self.jobs(count)) of node \(node), and \(reason.words)", hint: reason.hint(for: node))
    }

    private static func jobs(_ count: Int) -> String { "work/ has \(count) job\(count == 1 ? "" : "s")" }
}
