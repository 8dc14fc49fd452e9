import CLinux
import Glibc

/// An open regular file, closed when it goes out of scope. Every call blocks and belongs on a worker thread.
package struct OpenFile: ~Copyable, Sendable {
    let descriptor: Descriptor

    /// The path it was opened by, for messages only. The file may have been renamed since.
    package var path: String { name.isEmpty ? folder : folder + "/" + printable(name) }

    /// The folder in which it was opened and its name there, or its whole path and an empty name.
    private let folder: String
    private let name: [UInt8]

    init(_ descriptor: consuming Descriptor, path: String) {
        self.descriptor = descriptor
        folder = path
        name = []
    }

    /// Defers building the path, which most files never need.
    init(_ descriptor: consuming Descriptor, _ name: [UInt8], in directory: Directory) {
        self.descriptor = descriptor
        folder = directory.path
        self.name = name
    }

    /// Returns the file's current status.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package borrowing func status() throws(SystemError) -> FileStatus {
        var raw = stat()
        let number = descriptor.rawValue
        guard try FileGate.call(.status, path, { unsafe fstat(number, &raw) }) == 0 else {
            throw .last("fstat", path)
        }
        return FileStatus(raw)
    }

    /// Returns the creation time in nanoseconds since 1970 (STATX_BTIME); `nil` if the filesystem does not record it. Together
    /// with the inode it distinguishes the file from all others of the filesystem, even if the inode is reused later.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package borrowing func birthTime() throws(SystemError) -> Int64? {
        var time: Int64 = 0
        let number = descriptor.rawValue
        switch try FileGate.call(.status, path, { unsafe clinux_birth_time(number, &time) }) {
        case 1: return time
        case 0: return nil
        default: throw .last("statx", path)
        }
    }

    /// Appends up to `count` bytes, read from `offset`, to `bytes`. Fewer are appended only at the end of the file.
    ///
    /// - Returns: how many bytes were read.
    /// - Throws: `SystemError`: for example EIO. `bytes` is unchanged then.
    package borrowing func read(
        _ count: Int, at offset: Int64, appendingTo bytes: inout [UInt8]
    ) throws(SystemError) -> Int {
        let start = bytes.count
        // Not `repeatElement`, which works byte by byte in unoptimized builds; a journal has many megabytes.
        var room = [UInt8](repeating: 0, count: count)
        if bytes.isEmpty { swap(&bytes, &room) } else { bytes += room }
        var done = 0
        do {
            while done < count {
                let got = try readOnce(at: offset + Int64(done), into: &bytes, from: start + done)
                if got == 0 { break }
                done += got
            }
        } catch {
            bytes.removeLast(count)
            throw error
        }
        bytes.removeLast(count - done)
        return done
    }

    private borrowing func readOnce(
        at offset: Int64, into bytes: inout [UInt8], from start: Int
    ) throws(SystemError) -> Int {
        let number = descriptor.rawValue
        while true {
            let got = try FileGate.call(
                .read, path,
                {
                    unsafe bytes.withUnsafeMutableBytes { buffer in
                        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                        return unsafe pread(number, rest.baseAddress, rest.count, off_t(offset))
                    }
                })
            if got >= 0 { return got }
            guard errno == EINTR else { throw .last("pread", path) }
        }
    }

    /// Returns the whole file, up to its end at the time of reading.
    ///
    /// - Parameters:
    ///   - limit: The most bytes to return.
    ///   - byteCount: The length according to a recent status, which saves asking for it; need not be exact.
    /// - Returns: `nil` if it is longer than `limit`.
    /// - Throws: `SystemError`: for example EIO.
    package borrowing func contents(limit: Int, expecting byteCount: Int64? = nil) throws(SystemError) -> [UInt8]? {
        let expected = if let byteCount { byteCount } else { try status().byteCount }
        guard expected <= Int64(limit) else { return nil }
        // One byte more than expected: if it is not there, a single call has also found the end.
        var bytes = [UInt8](repeating: 0, count: Int(expected) + 1)
        let got = try readOnce(at: 0, into: &bytes, from: 0)
        bytes.removeLast(bytes.count - got)
        if got == expected { return bytes }
        while bytes.count <= limit {
            let step = min(65_536, limit + 1 - bytes.count)
            if try read(step, at: Int64(bytes.count), appendingTo: &bytes) < step { break }
        }
        return bytes.count <= limit ? bytes : nil
    }

    /// Makes its bytes, length and times survive a power loss (fsync(2)). Also works on a file opened for reading.
    ///
    /// - Parameter site: the purpose of the sync; tests can leave out single sites.
    /// - Throws: `SystemError`. A failed sync is final: the kernel may have dropped the bytes, so trying again proves
    ///   nothing. Reopen the file and read it.
    package borrowing func sync(_ site: SyncSite = .other) throws(SystemError) {
        if FileGate.isElided(site, path) { return }
        let number = descriptor.rawValue
        let status = try FileGate.call(
            .sync, path, change: { (_: Int32) in .syncedFile(FileGate.inode(number)) },
            { uninterrupted { fsync(number) } })
        guard status == 0 else { throw .last("fsync", path) }
    }

    /// Makes its bytes and length survive a power loss, but not its times (fdatasync(2)).
    ///
    /// - Parameter site: the purpose of the sync; tests can leave out single sites.
    /// - Throws: `SystemError`; final as for `sync(_:)`.
    package borrowing func syncData(_ site: SyncSite = .other) throws(SystemError) {
        if FileGate.isElided(site, path) { return }
        let number = descriptor.rawValue
        let status = try FileGate.call(
            .syncData, path, change: { (_: Int32) in .syncedFile(FileGate.inode(number)) },
            { uninterrupted { fdatasync(number) } })
        guard status == 0 else { throw .last("fdatasync", path) }
    }

    /// Makes bytes survive a power loss on which nothing relies yet: those of a new file, which the caller removes after a
    /// failure, those after the end of a log, or those of a job that stays where it is then.
    ///
    /// - Parameters:
    ///   - site: the purpose of the sync; tests can leave out single sites.
    ///   - operation: what fails with the sync, for the error.
    /// - Throws: `SystemError`. Unlike that of `sync(_:)`, it is not final.
    package borrowing func syncDraft(
        _ site: SyncSite = .other, as operation: String = "write and sync"
    ) throws(SystemError) {
        do throws(SystemError) {
            try sync(site)
        } catch {
            throw SystemError(code: error.code, operation: operation, subject: error.subject)
        }
    }

    /// Whether the installed plan skips waiting for syncs of this site when those syncs also serve other sites. Debug
    /// builds only.
    package borrowing func leavesOut(_ site: SyncSite) -> Bool { FileGate.isElided(site, path) }

    /// Closes now and reports the result of close(2). On some filesystems (NFS, FUSE) close reports a failed write.
    ///
    /// - Throws: `SystemError`. The file is closed all the same, and the last writes may be lost.
    package consuming func closeNow() throws(SystemError) {
        let path = self.path
        let number = descriptor.relinquish()
        guard try FileGate.call(.close, path, { close(number) }) == 0 else { throw .last("close", path) }
    }
}
