import CLinux
import Glibc

extension OpenFile {
    /// Gives the space of a part of the file back to the filesystem; the part reads as zeros then (fallocate(2),
    /// FALLOC_FL_PUNCH_HOLE). The file keeps its length.
    ///
    /// - Returns: `false` where the filesystem cannot.
    /// - Throws: `SystemError`: EIO and the like.
    @discardableResult
    package borrowing func punch(_ range: Range<Int64>) throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        let (offset, count) = (range.lowerBound, range.upperBound - range.lowerBound)
        let status = try FileGate.call(
            .punch, path,
            change: { (_: Int32) in .punched(file: FileGate.inode(number), offset: offset, byteCount: count) },
            { uninterrupted { clinux_punch(number, off_t(offset), off_t(count)) } })
        if status == 0 { return true }
        guard errno == EOPNOTSUPP || errno == ENOSYS else { throw .last("fallocate", path) }
        return false
    }

    /// Lets the kernel forget what it has of the file in memory (posix_fadvise(2), POSIX_FADV_DONTNEED), so that what is
    /// read next is what the device has; sync before, for changes are kept. After a sync that failed the two differ.
    ///
    /// Where there is no device, or the kernel does not follow the advice, nothing happens.
    package borrowing func forgetCache() {
        _ = posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    }

    /// Lets btrfs overwrite the file in place instead of copying on write (FS_IOC_SETFLAGS, FS_NOCOW_FL), so that
    /// overwriting needs no new space. To be called while the file is empty; other filesystems have no use for it.
    ///
    /// - Returns: `false` where the filesystem has no such attribute.
    /// - Throws: `SystemError`: EIO and the like.
    @discardableResult
    package borrowing func setNoCopyOnWrite() throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        if try FileGate.call(.setMode, path, { clinux_set_no_copy_on_write(number) }) == 0 { return true }
        let isWithout = [ENOTTY, EOPNOTSUPP, EINVAL, ENOSYS, EPERM].contains(errno)
        guard isWithout else { throw .last("ioctl FS_IOC_SETFLAGS", path) }
        return false
    }
}
