import Document

extension SpoolStatus {
    /// A node that does not run and has left jobs in `work/`.
    package struct LeftNode: Hashable, Sendable {
        /// Why the jobs of a node wait.
        package enum Reason: Hashable, Sendable {
            /// The node's journal is missing: what of the jobs was sent is unknown.
            case noJournal
            /// The spool is on a filesystem, here its type, whose locks do not show whether the node runs.
            case untrustedLocks(String)
            /// No daemon of this version can read the node's journal, here with the reason.
            case unusableJournal(String)
            /// The journal could not be opened, or its jobs could not be finished.
            case failed(String)
        }

        /// The node's name.
        package var node: String
        /// The number of its jobs.
        package var jobCount: Int
        /// Why they wait; `nil` if this daemon finishes them.
        package var reason: String?
        /// The remedy.
        package var hint: String?

        /// Creates a description.
        package init(node: String, jobCount: Int, _ reason: Reason?) {
            (self.node, self.jobCount) = (node, jobCount)
            self.reason = reason?.words
            hint = reason?.hint(for: node)
        }

        /// Reads a member of a status; `nil` if it is malformed.
        init?(_ root: Node) {
            guard let node = root["node"]?.string, let jobCount = root["jobs"]?.integer else { return nil }
            self.init(node: node, jobCount: jobCount, nil)
            (reason, hint) = (root["reason"]?.string, root["hint"]?.string)
        }

        func write(to writer: inout JSONWriter) {
            writer.beginObject()
            writer.member("node", node)
            writer.member("jobs", jobCount)
            writer.member("reason", reason)
            writer.member("hint", hint)
            writer.endObject()
        }
    }
}

extension SpoolStatus.LeftNode.Reason {
    /// The reason in words.
    package var words: String {
        switch self {
        case .noJournal: "its journal is missing, so it is unknown what was sent"
        case .untrustedLocks(let type): "the locks of \(type) do not show whether its daemon still runs"
        case .unusableJournal(let error), .failed(let error): error
        }
    }

    /// The remedy.
    package func hint(for node: String) -> String {
        switch self {
        case .noJournal:
            "put .pushspool/\(node)/journal back; or move the files from work/\(node)/ to new/, which sends all of each again"
        case .unusableJournal:
            "start that node's daemon in the version that wrote it; or move the files from work/\(node)/ to new/, which sends all "
                + "of each again, then remove .pushspool/\(node)/"
        case .untrustedLocks:
            "start that node's daemon again, or set `cluster: true` where the filesystem allows it: pushspool-cluster(7)"
        case .failed: "see the log for the cause; check that each app whose jobs it has runs here"
        }
    }
}
