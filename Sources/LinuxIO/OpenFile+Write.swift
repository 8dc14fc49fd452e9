import CLinux
import Glibc

extension OpenFile {
    /// Writes all of `bytes` where the last write ended.
    ///
    /// - Throws: `SystemError`: ENOSPC, EDQUOT, EFBIG, EIO; a part may have been written.
    package borrowing func write(_ bytes: [UInt8]) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let got = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                return unsafe Glibc.write(descriptor.rawValue, rest.baseAddress, rest.count)
            }
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
        while done < bytes.count {
            let got = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                return unsafe pwrite(descriptor.rawValue, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw .last("pwrite", path) }
            done += got
        }
    }

    /// Gives the file that many bytes of space now (posix_fallocate(3)), so that writing them cannot fail for lack of it.
    ///
    /// - Throws: `SystemError`: ENOSPC, EDQUOT, EFBIG.
    package borrowing func reserve(byteCount: Int64) throws(SystemError) {
        var status = EINTR
        // Returns its error instead of setting errno.
        while status == EINTR { status = posix_fallocate(descriptor.rawValue, 0, off_t(byteCount)) }
        guard status == 0 else { throw SystemError(code: status, operation: "posix_fallocate", subject: path) }
    }

    /// Takes the write lock of the whole file, held until this descriptor is closed (fcntl(2), open file descriptions).
    ///
    /// - Returns: `false` when another open file holds it, in this process or any other, on this host or, where the
    ///   filesystem is shared, another.
    /// - Throws: `SystemError`: ENOLCK, or EINVAL where the filesystem has no locks.
    package borrowing func lock() throws(SystemError) -> Bool {
        if clinux_lock_whole(descriptor.rawValue) == 0 { return true }
        guard errno == EAGAIN || errno == EACCES else { throw .last("fcntl F_OFD_SETLK", path) }
        return false
    }
}
