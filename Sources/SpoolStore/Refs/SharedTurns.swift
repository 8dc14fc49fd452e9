import Document
package import JobFormat
package import LinuxIO
import SpoolModel

/// The signs (`id:`, file) of an app's jobs that are under way in any node of a cluster, so that only one job with a sign
/// is. Calls block.
///
/// Each is a symbolic link in `.pushspool/.common/turns/<app>/` that nothing follows: its creation is atomic and exclusive
/// on every filesystem, with its content, the node. Its name is a hash of the sign; signs with the same hash only wait for
/// each other.
package final class SharedTurns {
    private let folder: Directory
    private let node: String

    /// Opens the turns of an app; `nil` if the daemon works alone.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - spool: The spool, as the node opened it that has the jobs.
    /// - Throws: `SystemError`: the folder cannot be created.
    package init?(of app: String, in spool: Spool) throws(SystemError) {
        guard let common = try spool.openCommonState() else { return nil }
        folder = try common.makeChild(Array("turns".utf8), mode: 0o700).makeChild(Array(app.utf8), mode: 0o700)
        node = spool.node
    }

    /// Acquires the turn of a sign, unless another node has it.
    ///
    /// - Returns: Whether this node has it now.
    /// - Throws: `SystemError`: for example EIO; it is unknown who has it.
    package func acquire(_ sign: JobSign) throws(SystemError) -> Bool {
        let name = Self.name(of: sign)
        do throws(SystemError) {
            try folder.makeSymbolicLink(name, to: node)
            return true
        } catch {
            // A file server whose answer was lost says so about our own link, too.
            guard error.isAlreadyThere else { throw error }
            return try folder.target(ofLink: name) == node
        }
    }

    /// Gives the turn of a sign back, if this node has it.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func giveBack(_ sign: JobSign) throws(SystemError) {
        let name = Self.name(of: sign)
        if try folder.target(ofLink: name) == node { try folder.unlink(name) }
    }

    /// Gives back all turns of this node except these: it died before it claimed their jobs, or after their end.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func giveBack(allBut signs: some Sequence<JobSign>) throws(SystemError) {
        let kept = Set(signs.map(Self.name))
        for name in try folder.names() where !kept.contains(name) {
            if try folder.target(ofLink: name) == node { try folder.unlink(name) }
        }
    }

    /// Gives back all turns of a node in all apps: it has no jobs any more.
    ///
    /// - Parameter spool: The spool, as the node opened it, or another one in its place.
    /// - Throws: `SystemError`: for example EIO.
    package static func giveBackAll(of spool: Spool) throws(SystemError) {
        guard let common = try spool.openCommonState() else { return }
        for app in try common.makeChild(Array("turns".utf8), mode: 0o700).names() {
            try SharedTurns(of: String(decoding: app, as: UTF8.self), in: spool)?.giveBack(allBut: [])
        }
    }

    private static func name(of sign: JobSign) -> [UInt8] {
        Array(String(FNV1a(RefRecord.key(of: sign).span).value, radix: 16).utf8)
    }
}
