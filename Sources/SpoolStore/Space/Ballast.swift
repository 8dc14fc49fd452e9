package import LinuxIO

/// A file that only occupies space, `.pushspool/<node>/ballast`. It is removed when the volume is full, so that the
/// jobs under way can be finished. Owned by one actor; calls block.
package final class Ballast {
    /// The size of the file.
    package static let byteCount: Int64 = 1 << 20

    /// Whether the file exists and can be removed.
    package private(set) var isThere = false

    private let directory: Directory
    private let name = Array("ballast".utf8)

    /// Creates the ballast of `.pushspool/<node>/`. `restore()` creates the file.
    package init(in directory: Directory) {
        self.directory = directory
    }

    /// Creates the file with all its space if it does not exist. Call it at startup and whenever there is space again.
    ///
    /// - Returns: `false` if there is no space for it; no part of the file remains then.
    /// - Throws: `SystemError`: for example EIO.
    @discardableResult
    package func restore() throws(SystemError) -> Bool {
        if isThere { return true }
        do {
            let file = try directory.openForWriting(name, mode: 0o600)
            try file.reserve(byteCount: Self.byteCount)
            // Delayed allocation could still give the space to other files.
            try file.sync(.ballast)
        } catch {
            guard error.isOutOfSpace else { throw error }
            try directory.unlink(name)
            return false
        }
        isThere = true
        return true
    }

    /// Returns the space to the volume.
    ///
    /// - Returns: `false` if the file was already removed, so that there is nothing more to gain.
    /// - Throws: `SystemError`: for example EIO.
    @discardableResult
    package func giveUp() throws(SystemError) -> Bool {
        isThere = false
        return try directory.unlink(name)
    }
}
