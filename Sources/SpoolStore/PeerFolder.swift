package import JournalModel
package import LinuxIO
import SpoolModel

/// The folder of another node on the spool, `.pushspool/<node>/`. Calls block; on a shared filesystem for many seconds.
package struct PeerFolder: Sendable {
    /// Whether the node runs.
    package enum State: Hashable, Sendable {
        /// Its journal is locked: it runs, or another node finishes its jobs.
        case locked
        /// Nobody has its journal. Its last mark tells this state from a later one; `nil` if no
        /// daemon has marked it, or a crash tore the mark.
        case free(JournalBeat?)
    }

    /// The node's name.
    package let node: String
    private let directory: Directory

    /// Returns the folders of all nodes that have a journal, including this one, by name.
    ///
    /// - Throws: `SystemError`: they cannot be listed.
    package static func all(in spool: Spool) throws(SystemError) -> [PeerFolder] { try all(inRoot: spool.root) }

    /// Returns the same for a spool that is not opened as a node.
    ///
    /// - Parameters:
    ///   - root: The spool's root.
    ///   - known: Nodes to leave out, which saves opening their folders.
    /// - Returns: The folders, by name.
    /// - Throws: `SystemError`: they cannot be listed.
    package static func all(
        inRoot root: Directory, besides known: Set<String> = []
    ) throws(SystemError) -> [PeerFolder] {
        let own = try root.openChild(Spool.folderName)
        var found: [PeerFolder] = []
        for name in try own.names() {
            guard let node = String(validating: name, as: UTF8.self), NodeName.isValid(node), !known.contains(node)
            else { continue }
            if let peer = try PeerFolder(node, in: own) { found.append(peer) }
        }
        return found.sorted { $0.node < $1.node }
    }

    /// Opens the folder of a node; `nil` if it has no journal.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package init?(_ node: String, of spool: Spool) throws(SystemError) {
        try self.init(node, in: try spool.root.openChild(Spool.folderName))
    }

    private init?(_ node: String, in own: Directory) throws(SystemError) {
        do throws(SystemError) {
            let directory = try own.openChild(Array(node.utf8))
            // A journal without its first page is being created.
            let status = try directory.status(of: Journal.fileName)
            guard let status, status.byteCount > JournalLayout.labelByteCount else { return nil }
            (self.node, self.directory) = (node, directory)
        } catch {
            // What another user has put there is no node's, and what was removed meanwhile is none any more.
            guard error.isNotFound || error.isNoDirectory || error.isPermission || error.isStale else { throw error }
            return nil
        }
    }

    /// Returns whether the node runs. Takes no lock, so that a node that starts meanwhile gets its own.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func state() throws(SystemError) -> State {
        let file = try directory.openForWriting(Journal.fileName, mode: 0o600)
        if try file.isLockedElsewhere() { return .locked }
        var bytes: [UInt8] = []
        _ = try file.read(JournalBeat.byteCount, at: JournalBeat.offset, appendingTo: &bytes)
        return .free(JournalBeat(bytes: bytes))
    }

    /// Returns why no daemon of this version can read the node's journal; `nil` if one can, as far as its first page shows.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func journalFault() throws -> String? {
        do {
            _ = try JournalReading.label(of: try directory.openForReading(Journal.fileName), node: node)
            return nil
        } catch let fault as SpoolFault {
            return fault.message
        }
    }

    /// Returns the last mark in the node's journal, whoever has it.
    ///
    /// - Throws: `SystemError`: for example EIO.
    func beat() throws(SystemError) -> JournalBeat? {
        var bytes: [UInt8] = []
        _ = try directory.openForReading(Journal.fileName).read(
            JournalBeat.byteCount, at: JournalBeat.offset, appendingTo: &bytes)
        return JournalBeat(bytes: bytes)
    }

    /// Opens a folder in the node's state.
    ///
    /// - Returns: `nil` if it does not exist.
    /// - Throws: `SystemError`: for example EIO.
    func state(named name: [UInt8]) throws(SystemError) -> Directory? {
        do throws(SystemError) {
            return try directory.openChild(Array("state".utf8)).openChild(name)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Lets the hook of an app begin with this node's feedback where the hook of another node is.
    ///
    /// - Throws: `SystemError`: a mark cannot be read or written.
    package func inherit(_ mark: HookMark) throws(SystemError) { try mark.inherit(to: directory) }

    /// Takes the lock on the node's journal.
    ///
    /// - Returns: `nil` if it is taken.
    /// - Throws: `SystemError`: for example EIO.
    package func lock() throws(SystemError) -> JournalLock? { try JournalLock(of: node, in: directory) }

    /// Opens the box for requests to the node.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func requests() throws(SystemError) -> RequestBox { try RequestBox(in: directory) }

    /// Returns the node's request for its journal; `nil` if there is none.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func returnRequest() throws(SystemError) -> ReturnRequest? { try ReturnRequest.read(in: directory) }
}
