package import LinuxIO
package import SpoolModel

/// The spool's root, held by one daemon under one node name.
///
/// Making one is making sure that no second daemon of the same name runs: the journal in `.pushspool/<node>/` stays locked
/// (an open file description lock) as long as this value lives, and no longer than the process. Calls block.
package final class Spool: Sendable {
    /// The root directory.
    package let root: Directory
    /// The name this daemon claims under.
    package let node: String
    /// `.pushspool/<node>/`, ours alone: journal and state.
    package let privateDirectory: Directory
    /// `.pushspool/public/<node>/`, for all to read: status and metrics.
    package let publicDirectory: Directory
    /// The node's journal, which holds the lock.
    package let journal: Journal
    /// What the last daemon of this node left in the journal.
    package let replay: JournalReplay

    /// Opens the spool at `path` as the node called `node`, makes what is missing in `.pushspool/`, takes the lock, and
    /// reads the journal.
    ///
    /// - Parameters:
    ///   - path: the spool's root.
    ///   - node: the name to claim under.
    ///   - journalByteCount: how large the journal is made if there is none.
    /// - Throws: `SpoolFault` when another daemon has this name or it is no name, or the journal cannot be used;
    ///   `SystemError` when the path cannot be used. Both are the operator's to correct.
    package init(path: String, node: String, journalByteCount: Int = Journal.usualByteCount) throws {
        guard NodeName.isValid(node) else {
            throw SpoolFault(
                "the node name '\(node)' is not usable", hint: "set `node:` to \(NodeName.rule)")
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

    /// The names of the directories that can be apps, configured or not, in order.
    ///
    /// - Throws: `SystemError`: the root cannot be read.
    package func appNames() throws(SystemError) -> [String] {
        try root.appNames()
    }

    /// Opens an app's directories, and makes those that are missing.
    ///
    /// - Throws: `SpoolFault` when it is no app's name, or its directories are on several filesystems or not writable;
    ///   `SystemError` when one cannot be opened.
    package func app(_ name: String) throws -> AppSpool {
        guard AppName.isValid(name) else {
            throw SpoolFault(
                "'\(name)' cannot be an app's name", hint: "use \(AppName.rule)")
        }
        return try AppSpool(name: name, node: node, root: root)
    }
}

extension Directory {
    /// Makes sure that nobody but the daemon's user gets at what is in it.
    ///
    /// - Throws: `SpoolFault`: it is another user's, or open to others; `SystemError` when that cannot be seen.
    package func requirePrivate() throws {
        let status = try status()
        guard status.owner == Host.userID else {
            throw SpoolFault(
                "\(path) belongs to user \(status.owner), and the daemon runs as user \(Host.userID)",
                hint: "run it as that user, or: chown -R \(Host.userID) \(path)")
        }
        guard status.mode & 0o077 == 0 else {
            throw SpoolFault(
                "\(path) is open to others (mode 0\(String(status.mode, radix: 8)))", hint: "chmod 700 \(path)")
        }
    }

    /// The names in a spool's root that can be apps and are directories, in order.
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
