import CLinux
import Glibc

extension OpenFile {
    /// Returns the space of a range to the filesystem; the range then reads as zeros (fallocate(2),
    /// FALLOC_FL_PUNCH_HOLE). The file keeps its length.
    ///
    /// - Returns: `false` if the filesystem does not support it.
    /// - Throws: `SystemError`: for example EIO.
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

    /// Drops the kernel's cached pages of the file (posix_fadvise(2), POSIX_FADV_DONTNEED), so that the next read comes
    /// from the device. Sync first, because dirty pages stay cached. After a failed sync, cache and device can differ.
    ///
    /// Has no effect without a device, or if the kernel ignores the advice.
    package borrowing func forgetCache() {
        _ = posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    }

    /// Makes btrfs overwrite the file in place instead of copying on write (FS_IOC_SETFLAGS, FS_NOCOW_FL), so that
    /// overwriting needs no new space. Call it while the file is empty. Other filesystems do not need it.
    ///
    /// - Returns: `false` if the filesystem has no such attribute.
    /// - Throws: `SystemError`: for example EIO.
    @discardableResult
    package borrowing func setNoCopyOnWrite() throws(SystemError) -> Bool {
        let number = descriptor.rawValue
        if try FileGate.call(.setMode, path, { clinux_set_no_copy_on_write(number) }) == 0 { return true }
        let isWithout = [ENOTTY, EOPNOTSUPP, EINVAL, ENOSYS, EPERM].contains(errno)
        guard isWithout else { throw .last("ioctl FS_IOC_SETFLAGS", path) }
        return false
    }
}
