/// The place under which a directory was opened. It may lead to another one by now: people move, restore and mount folders.
package enum FolderPlace: Sendable {
    /// A path. Symbolic links in it are followed.
    case path(String)
    /// A name in a directory that is open. Symbolic links are not followed.
    case entry([UInt8], of: Directory)

    /// Whether the place leads to a directory that was opened before: it was not moved, replaced, removed or mounted over.
    ///
    /// - Throws: `SystemError`: it is unknown, for example after EACCES or EIO.
    package func leads(to directory: Directory) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let found: FileIdentity? =
                switch self {
                case .path(let path): try Directory.open(path: path).status().identity
                case .entry(let name, let parent): try parent.status(of: name)?.identity
                }
            return try found == directory.status().identity
        } catch {
            guard error.isNotFound || error.isNoDirectory || error.isStale else { throw error }
            return false
        }
    }
}
