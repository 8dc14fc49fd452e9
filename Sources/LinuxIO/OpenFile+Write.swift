import CLinux
import Glibc

extension OpenFile {
    /// Writes all of `bytes` at the file offset.
    ///
    /// - Throws: `SystemError`: ENOSPC, EDQUOT, EFBIG, EIO; a part may have been written.
    package borrowing func write(_ bytes: [UInt8]) throws(SystemError) {
        var done = 0
        let number = descriptor.rawValue
        while done < bytes.count {
            let got = try FileGate.call(
                .write, path,
                change: { count in
                    let end = Int64(lseek(number, 0, SEEK_CUR))
                    return written(bytes[done..<(done + count)], at: end - Int64(count), to: number)
                },
                {
                    unsafe bytes.withUnsafeBytes { buffer in
                        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                        return unsafe Glibc.write(number, rest.baseAddress, rest.count)
                    }
                })
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw .last("write", path) }
            done += got
        }
    }

    /// Sets the mtime to the whole second before now, so that it differs from every ctime of this file.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package borrowing func backdate() throws(SystemError) {
        // UTIME_OMIT: the access time stays.
        let accessed = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
        let times = [accessed, timespec(tv_sec: Int(WallClock.nanoseconds() / 1_000_000_000) - 1, tv_nsec: 0)]
        let status = try FileGate.call(.setMode, path, { unsafe futimens(descriptor.rawValue, times) })
        guard status == 0 else { throw .last("futimens", path) }
    }

    /// Writes all of `bytes` starting at `offset`. Does not move the file offset.
    ///
    /// - Throws: `SystemError`: ENOSPC, EDQUOT, EFBIG, EIO; a part may have been written.
    package borrowing func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        var done = 0
        let number = descriptor.rawValue
        while done < bytes.count {
            let got = try FileGate.call(
                .pwrite, path,
                change: { count in
                    written(bytes[done..<(done + count)], at: offset + Int64(done), to: number)
                },
                {
                    unsafe bytes.withUnsafeBytes { buffer in
                        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                        return unsafe pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                    }
                })
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw .last("pwrite", path) }
            done += got
        }
    }

    /// Allocates `byteCount` bytes from the start of the file (posix_fallocate(3)), so that writing them cannot fail
    /// for lack of space.
    ///
    /// - Throws: `SystemError`: ENOSPC, EDQUOT, EFBIG.
    package borrowing func reserve(byteCount: Int64) throws(SystemError) {
        let number = descriptor.rawValue
        let status = try FileGate.call(
            .allocate, path,
            change: { (_: Int32) in .allocated(file: FileGate.inode(number), byteCount: byteCount) },
            { uninterrupted { clinux_allocate(number, off_t(byteCount)) } })
        guard status == 0 else { throw .last("posix_fallocate", path) }
    }

    /// Takes a write lock on the whole file, held until this descriptor is closed (fcntl(2), open file description locks).
    ///
    /// Calling it again is harmless: it checks that the lock is still ours, and takes it again if the server of a
    /// network filesystem has lost it.
    ///
    /// - Returns: `false` if another open file holds the lock, in this or another process, or on another host if the
    ///   filesystem is shared.
    /// - Throws: `SystemError`: ENOLCK, or EINVAL if the filesystem has no locks.
    package borrowing func lock() throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        if try FileGate.call(.lock, path, { clinux_lock_whole(number) }) == 0 { return true }
        guard errno == EAGAIN || errno == EACCES else { throw .last("fcntl F_OFD_SETLK", path) }
        return false
    }

    /// Whether another open file holds the lock. Takes no lock itself, so it never makes another process's attempt fail.
    ///
    /// - Throws: `SystemError`: EINVAL if the filesystem has no locks.
    package borrowing func isLockedElsewhere() throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        var isLocked: Int32 = 0
        let status = try FileGate.call(.lock, path, { unsafe clinux_find_lock(number, &isLocked) })
        guard status == 0 else { throw .last("fcntl F_OFD_GETLK", path) }
        return isLocked != 0
    }

    /// Releases the lock before a close. A process forked in between shares the open file until it calls exec, and
    /// would hold the lock that long.
    package borrowing func unlock() {
        // If this fails, the close releases the lock.
        _ = clinux_unlock_whole(descriptor.rawValue)
    }
}

/// The change made by a write.
private func written(_ bytes: ArraySlice<UInt8>, at offset: Int64, to descriptor: Int32) -> FileChange {
    .written(file: FileGate.inode(descriptor), offset: offset, bytes: Array(bytes))
}
