import CLinux

/// The type of filesystem that a directory is on, as far as it matters to a spool (statfs(2)).
package struct FilesystemType: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's magic number of the type.
    package let magic: UInt64

    /// Whether other hosts, or a FUSE process, can change files without an inotify(7) event. Such a directory must be polled.
    package var isShared: Bool { sharedTypes[magic] != nil }

    /// Its usual name, or the number in hexadecimal.
    package var description: String {
        sharedTypes[magic] ?? localTypes[magic] ?? "0x" + String(magic, radix: 16)
    }
}

/// The free space of a filesystem.
package struct FilesystemSpace: Hashable, Sendable {
    /// Bytes available to this process.
    package let freeByteCount: Int64
    /// Total size in bytes.
    package let byteCount: Int64
    /// Files that can still be created; `nil` if the filesystem has no such limit (btrfs).
    package let freeFileCount: Int64?

    /// Creates a value from known numbers.
    package init(freeByteCount: Int64, byteCount: Int64, freeFileCount: Int64?) {
        (self.freeByteCount, self.byteCount, self.freeFileCount) = (freeByteCount, byteCount, freeFileCount)
    }
}

extension Directory {
    /// Returns the type of its filesystem.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func filesystemType() throws(SystemError) -> FilesystemType {
        FilesystemType(magic: UInt64(truncatingIfNeeded: try filesystem().type))
    }

    /// Returns the free space of its filesystem.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func filesystemSpace() throws(SystemError) -> FilesystemSpace {
        let raw = try filesystem()
        return FilesystemSpace(
            freeByteCount: saturating(raw.available_blocks, times: raw.block_size),
            byteCount: saturating(raw.blocks, times: raw.block_size),
            freeFileCount: raw.files == 0 ? nil : Int64(clamping: raw.free_files))
    }

    private func filesystem() throws(SystemError) -> clinux_filesystem {
        var raw = clinux_filesystem()
        let status = try FileGate.call(
            .filesystem, path,
            { uninterrupted { unsafe clinux_describe_filesystem(descriptor.rawValue, &raw) } })
        guard status == 0 else { throw .last("fstatfs", path) }
        return raw
    }
}

private func saturating(_ count: UInt64, times size: UInt64) -> Int64 {
    let (product, overflow) = count.multipliedReportingOverflow(by: size)
    return overflow ? .max : Int64(clamping: product)
}

/// From linux/magic.h and the sources of the filesystems.
private let sharedTypes: [UInt64: String] = [
    0x6969: "nfs", 0x517B: "smb", 0xFE53_4D42: "smb2", 0xFF53_4D42: "cifs", 0x00C3_6400: "ceph",
    0x6573_5546: "fuse", 0x0102_1997: "9p", 0x5346_414F: "afs", 0x6B41_4653: "kafs", 0x0116_1970: "gfs2",
    0x7461_636F: "ocfs2", 0x0BD0_0BD0: "lustre", 0x4750_4653: "gpfs", 0x7375_7245: "coda", 0x786F_4256: "vboxsf",
]

private let localTypes: [UInt64: String] = [
    0xEF53: "ext4", 0x5846_5342: "xfs", 0x9123_683E: "btrfs", 0x0102_1994: "tmpfs", 0x794C_7630: "overlay",
    0xF2F5_2010: "f2fs", 0x2FC1_2FC1: "zfs", 0xCA45_1A4E: "bcachefs", 0x8584_58F6: "ramfs",
]
