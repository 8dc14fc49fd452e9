import Glibc
package import LinuxIO

/// A filesystem in memory of a few MiB, to be filled; only root can make one.
package final class SmallVolume: Sendable {
    /// Whether this process can make one; if not, the tests that need one are skipped.
    package static var isPossible: Bool { Host.userID == 0 && canMount }

    /// Its root.
    package let directory: Directory

    private let place: TemporaryDirectory

    private static let canMount = (try? SmallVolume(byteCount: 1 << 20)) != nil

    /// Makes one.
    ///
    /// - Parameters:
    ///   - byteCount: how much goes into it.
    ///   - fileCount: how many files it can have, its root included.
    /// - Throws: `SystemError`: it cannot be mounted, for lack of rights.
    package init(byteCount: Int, fileCount: Int = 64) throws {
        let place = try TemporaryDirectory()
        let options = "size=\(byteCount),nr_inodes=\(fileCount)"
        let status = unsafe options.withCString { unsafe mount("tmpfs", place.path, "tmpfs", 0, $0) }
        guard status == 0 else { throw SystemError.last("mount", place.path) }
        directory = try Directory.open(path: place.path)
        self.place = place
    }

    deinit {
        // Lazily: the directory is still open here.
        if unsafe umount2(place.path, Int32(MNT_DETACH)) != 0 { print("still mounted: \(place.path)") }
    }

    /// Writes until nothing more goes in.
    ///
    /// - Throws: `SystemError`: anything but a full volume.
    package func fill(_ name: String) throws {
        do {
            let file = try directory.openForWriting(Array(name.utf8), mode: 0o600)
            var offset = try file.status().byteCount
            while true {
                try file.write([UInt8](repeating: 1, count: 4096), at: offset)
                offset += 4096
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
    }

    /// Takes the space of a file back, also while a process that is just being forked has it open.
    ///
    /// - Throws: `SystemError`.
    package func empty(_ name: String) throws(SystemError) {
        guard unsafe truncate(directory.path + "/" + name, 0) == 0 else { throw .last("truncate", name) }
    }
}
