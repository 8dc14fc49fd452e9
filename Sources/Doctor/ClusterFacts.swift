import Document
import JSON
import JournalModel
import LinuxIO
import SpoolModel
import SpoolStore

/// The nodes of a cluster, and what its filesystem does.
struct ClusterFacts: Sendable {
    /// Another node.
    struct Peer: Sendable {
        let node: String
        /// Whether it runs; `nil` if that is unknown.
        var state: PeerFolder.State?
        /// Why its journal cannot be read; `nil` if it can, or that is unknown.
        var journalFault: String?
        /// Its apps; `nil` if it has published none, or in another version.
        var apps: AppList?
    }

    /// The node for which they were gathered.
    var node = ""
    /// What the filesystem does; `nil` if it could not be tried.
    var probe: ClusterProbe?
    /// Why something could not be read or tried.
    var refusal: String?
    /// The other nodes.
    var peers: [Peer] = []
    /// How many jobs each node has in `work/`.
    var jobCounts: [String: Int] = [:]
    /// The filesystem with the journals.
    var filesystem: FilesystemType?

    /// Looks at the other nodes of a spool, and tries the filesystem in the node's folder. Takes no lock that a daemon may
    /// want. Blocks.
    ///
    /// - Parameters:
    ///   - node: The node.
    ///   - spool: The path of its spool.
    ///   - isClustered: Whether to try the filesystem.
    /// - Returns: The facts.
    static func look(at node: String, in spool: String, isClustered: Bool) -> ClusterFacts {
        var facts = ClusterFacts(node: node)
        do throws(SystemError) {
            let root = try Directory.open(path: spool)
            facts.filesystem = try root.filesystemType()
            facts.jobCounts = try QueueListing.claimedCounts(in: root)
            let hasNodes = try root.status(of: Array(".pushspool".utf8)) != nil
            guard isClustered || hasNodes else { return facts }
            let folder = try root.openChild(Array(".pushspool".utf8))
            if isClustered { facts.probe = try ClusterProbe(in: try folder.openChild(Array(node.utf8))) }
            for peer in try PeerFolder.all(inRoot: root, besides: [node]) {
                facts.peers.append(
                    Peer(
                        node: peer.node, state: try? peer.state(), journalFault: (try? peer.journalFault()) ?? nil,
                        apps: apps(of: peer.node, in: root)))
            }
        } catch {
            facts.refusal = "\(error)"
        }
        return facts
    }

    private static func apps(of node: String, in root: Directory) -> AppList? {
        var parser = JSON.Parser()
        guard let folder = try? Spool.publicFolder(in: root) else { return nil }
        return try? Spool.publishedApps(of: Array(node.utf8), in: folder, &parser)?.list
    }
}
