import CLinux
import Glibc

extension OpenFile {
    /// Writes all of `bytes` where the last write ended.
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

    /// Writes all of `bytes` from `offset` on; where the last plain write ended does not change.
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

    /// Gives the file that many bytes of space now (posix_fallocate(3)), so that writing them cannot fail for lack of it.
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

    /// Takes the write lock of the whole file, held until this descriptor is closed (fcntl(2), open file descriptions).
    ///
    /// Once more is no harm: it says whether the lock is still ours, and on a network filesystem takes it again where a
    /// server forgot it.
    ///
    /// - Returns: `false` when another open file holds it, in this process or any other, on this host or, where the
    ///   filesystem is shared, another.
    /// - Throws: `SystemError`: ENOLCK, or EINVAL where the filesystem has no locks.
    package borrowing func lock() throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        if try FileGate.call(.lock, path, { clinux_lock_whole(number) }) == 0 { return true }
        guard errno == EAGAIN || errno == EACCES else { throw .last("fcntl F_OFD_SETLK", path) }
        return false
    }

    /// Whether another open file holds the lock; takes none, so that nobody who wants it is in our way.
    ///
    /// - Throws: `SystemError`: EINVAL where the filesystem has no locks.
    package borrowing func isLockedElsewhere() throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        var isLocked: Int32 = 0
        let status = try FileGate.call(.lock, path, { unsafe clinux_find_lock(number, &isLocked) })
        guard status == 0 else { throw .last("fcntl F_OFD_GETLK", path) }
        return isLocked != 0
    }

    /// Lets go of the lock, before a close: a process that was forked in between has the same open file until it begins
    /// its program, and the lock would be held as long.
    package borrowing func unlock() {
        // What cannot be unlocked is unlocked by the close.
        _ = clinux_unlock_whole(descriptor.rawValue)
    }
}

/// What a write changed.
private func written(_ bytes: ArraySlice<UInt8>, at offset: Int64, to descriptor: Int32) -> FileChange {
    .written(file: FileGate.inode(descriptor), offset: offset, bytes: Array(bytes))
}
