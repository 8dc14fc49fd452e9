import CLinux
import Glibc

/// One pass over the names in a directory, a block at a time, so that memory does not grow with their number.
///
/// Names added or removed during the pass may or may not appear; all others appear once (readdir(3)).
package struct DirectoryListing: ~Copyable {
    /// One directory entry.
    package struct Entry: Hashable, Sendable {
        /// The name's bytes; never `.` or `..`.
        package let name: [UInt8]
        /// The inode number.
        package let inode: UInt64
        /// The file type, or `nil` if the filesystem does not report it without a stat.
        package let kind: FileStatus.Kind?
    }

    private let descriptor: Descriptor
    private let path: String
    private var block = [UInt8].readBuffer(byteCount: 65_536)
    private var end = 0
    private var position = 0

    init(of directory: Directory) throws(SystemError) {
        // Opens the directory again, because all users of one open file share its position.
        let number = try FileGate.call(
            .open, directory.path,
            { unsafe openat(directory.descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        descriptor = try Descriptor(opened: number, "openat", directory.path)
        path = directory.path
    }

    /// Returns the next name, or `nil` after the last.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE, ENOTCONN; the listing is then incomplete.
    package mutating func next() throws(SystemError) -> Entry? {
        while true {
            if position >= end, try !readBlock() { return nil }
            // struct linux_dirent64: inode 8, offset 8, record length 2, type 1, then the name, NUL-terminated.
            let start = position
            position += Int(block[start + 16]) | Int(block[start + 17]) << 8
            let name = Array(block[(start + 19)..<position].prefix { $0 != 0 })
            guard name != [0x2E], name != [0x2E, 0x2E] else { continue }
            return Entry(name: name, inode: inode(at: start), kind: FileStatus.Kind(entryType: block[start + 18]))
        }
    }

    private mutating func readBlock() throws(SystemError) -> Bool {
        let count = try FileGate.call(
            .list, path, { unsafe clinux_list(descriptor.rawValue, &block, block.count) })
        guard count >= 0 else { throw .last("getdents64", path) }
        (position, end) = (0, count)
        return count > 0
    }

    private func inode(at start: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(block[start + $1]) << UInt64(8 * $1) }
    }
}

extension Directory {
    /// Starts a pass over its names.
    ///
    /// - Throws: `SystemError`, usually EMFILE or EACCES.
    package func listing() throws(SystemError) -> DirectoryListing {
        try DirectoryListing(of: self)
    }

    /// Returns all its names, in no particular order. For directories that are known to be small.
    ///
    /// - Throws: `SystemError` as `listing()` and its `next()`.
    package func names() throws(SystemError) -> [[UInt8]] {
        var listing = try listing()
        var names: [[UInt8]] = []
        while let entry = try listing.next() { names.append(entry.name) }
        return names
    }
}

extension FileStatus.Kind {
    fileprivate init?(entryType: UInt8) {
        // DT_… of dirent.h: the file type bits of the mode, shifted.
        guard entryType != 0 else { return nil }
        self.init(mode: mode_t(entryType) << 12)
    }
}
