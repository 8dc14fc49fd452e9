package import JournalModel
package import LinuxIO
import SpoolModel

/// The spool's root, held by one daemon under one node name.
///
/// Creating one ensures that no second daemon with the same node name runs: the journal in `.pushspool/<node>/` stays
/// locked (an open file description lock) while this object lives, and no longer than the process. Calls block.
package final class Spool: Sendable {
    /// The root directory.
    package let root: Directory
    /// The name this daemon claims under.
    package let node: String
    /// `.pushspool/<node>/`, for this daemon only: journal and state.
    package let privateDirectory: Directory
    /// `.pushspool/public/<node>/`, readable by all: status and metrics.
    package let publicDirectory: Directory
    /// The node's journal, which holds the lock.
    package let journal: Journal
    /// The records that this node's last daemon left in the journal.
    package let replay: JournalReplay

    /// Opens the spool at `path` as the node called `node`, creates missing folders in `.pushspool/`, takes the lock,
    /// and reads the journal.
    ///
    /// - Parameters:
    ///   - path: the spool's root.
    ///   - node: the name to claim under.
    ///   - journalByteCount: the size of the journal if it has to be created.
    /// - Throws: `SpoolFault` if another daemon has this name, the name is invalid, or the journal cannot be used;
    ///   `SystemError` if the path cannot be used. The operator must correct both.
    package init(path: String, node: String, journalByteCount: Int = Journal.usualByteCount) throws {
        guard NodeName.isValid(node) else {
            throw SpoolFault(
                "'\(node)' cannot be a node name", hint: "set `node:` to \(NodeName.rule)")
        }
        self.node = node
        root = try Directory.open(path: path)
        let own = try root.makeChild(Array(".pushspool".utf8), mode: 0o755)
        privateDirectory = try own.makeChild(Array(node.utf8), mode: 0o700)
        try privateDirectory.requirePrivate()
        publicDirectory = try own.makeChild(Array("public".utf8), mode: 0o755)
            .makeChild(Array(node.utf8), mode: 0o755)
        (journal, replay) = try Journal.open(
            in: privateDirectory, node: node, layout: JournalLayout(byteCount: journalByteCount))
    }

    /// Returns the names of the directories that can be apps, configured or not, in order.
    ///
    /// - Throws: `SystemError`: the root cannot be read.
    package func appNames() throws(SystemError) -> [String] {
        try root.appNames()
    }

    /// Opens an app's directories and creates missing ones.
    ///
    /// - Throws: `SpoolFault` if the name is not a valid app name, or the directories are on several filesystems or not
    ///   writable; `SystemError` if one cannot be opened.
    package func app(_ name: String) throws -> AppSpool {
        guard AppName.isValid(name) else {
            throw SpoolFault(
                "'\(name)' cannot be an app's name", hint: "use \(AppName.rule)")
        }
        return try AppSpool(name: name, node: node, root: root)
    }
}

extension Directory {
    /// Checks that only the daemon's user can access the directory.
    ///
    /// - Throws: `SpoolFault`: it belongs to another user, or is open to others; `SystemError` if that cannot be checked.
    package func requirePrivate() throws {
        let status = try status()
        guard status.owner == Host.userID else {
            throw SpoolFault(
                "\(path) belongs to user \(status.owner), but the daemon runs as user \(Host.userID)",
                hint: "run it as that user, or run: chown -R \(Host.userID) \(path)")
        }
        guard status.mode & 0o077 == 0 else {
            throw SpoolFault(
                "\(path) is accessible to other users (mode 0\(String(status.mode, radix: 8)))",
                hint: "chmod 700 \(path)")
        }
    }

    /// Returns the names in a spool's root that are directories and valid app names, in order.
    func appNames() throws(SystemError) -> [String] {
        var names: [String] = []
        var listing = try listing()
        while let entry = try listing.next() {
            guard let name = String(validating: entry.name, as: UTF8.self), AppName.isValid(name) else { continue }
            let kind = if let kind = entry.kind { kind } else { try status(of: entry.name)?.kind }
            if kind == .directory { names.append(name) }
        }
        return names.sorted()
    }
}
