package import LinuxIO

/// A file that only takes space, `.pushspool/<node>/ballast`: given up when the volume is full, so that the jobs that are
/// under way can be finished. Owned by one actor; calls block.
package final class Ballast {
    /// How much space it takes.
    package static let byteCount: Int64 = 1 << 20

    /// Whether it is there to be given up.
    package private(set) var isThere = false

    private let directory: Directory
    private let name = Array("ballast".utf8)

    /// The ballast in `.pushspool/<node>/`, whether it is there or not: `restore()` makes it.
    package init(in directory: Directory) {
        self.directory = directory
    }

    /// Makes it if it is not there with all its space: at the start, and whenever there is room again.
    ///
    /// - Returns: `false` when there is no space for it; nothing is left behind then.
    /// - Throws: `SystemError`: EIO and the like.
    @discardableResult
    package func restore() throws(SystemError) -> Bool {
        if isThere { return true }
        do {
            let file = try directory.openForWriting(name, mode: 0o600)
            try file.reserve(byteCount: Self.byteCount)
            // Space that is only promised could be given to others.
            try file.sync(.ballast)
        } catch {
            guard error.isOutOfSpace else { throw error }
            try directory.unlink(name)
            return false
        }
        isThere = true
        return true
    }

    /// Gives its space back to the volume.
    ///
    /// - Returns: `false` when it was given up before, so that there is no more to hope for from it.
    /// - Throws: `SystemError`: EIO and the like.
    @discardableResult
    package func giveUp() throws(SystemError) -> Bool {
        isThere = false
        return try directory.unlink(name)
    }
}
