import JobFormat
package import LinuxIO
import PushModel
package import SpoolModel
import SpoolStore

/// A job in `work/` of a node whose daemon a command cannot reach.
package struct ForeignJob: Hashable, Sendable {
    /// The node that has claimed it.
    package let node: String
    private let app: String
    private let name: FileName
    private let id: JobID?

    /// Finds the job that an operator means. A producer's id is not found: it is in the job's file only.
    ///
    /// - Parameters:
    ///   - reference: The job.
    ///   - root: The spool.
    ///   - nodes: The nodes whose jobs were searched already.
    /// - Throws: `SystemError`: a folder cannot be read.
    package init?(_ reference: JobReference, in root: Directory, besides nodes: Set<String>) throws(SystemError) {
        guard reference.mayBe(in: .work) else { return nil }
        for app in try QueueListing.apps(in: root) where reference.app == nil || reference.app == app {
            var found: QueueListing.Entry?
            _ = try QueueListing.forEach(of: app, in: root, only: [.sending]) { entry in
                guard let node = entry.node, !nodes.contains(node) else { return }
                if reference.isMeant(name: entry.name, id: entry.id, ref: nil) { found = found ?? entry }
            }
            guard let found, let node = found.node else { continue }
            (self.node, self.app, name, id) = (node, app, found.name, found.id)
            return
        }
        return nil
    }

    /// The answer to a command about the job.
    ///
    /// - Parameters:
    ///   - reason: Why it cannot be carried out.
    ///   - hint: The remedy.
    /// - Returns: The answer.
    package func answer(_ reason: String, hint: String) -> ControlAnswer {
        ControlAnswer(.unanswered, "the job belongs to node \(node): \(reason)", hint: hint).about(app, name, id)
    }
}
