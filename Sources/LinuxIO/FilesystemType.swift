import CLinux
import Glibc

/// What a directory is stored on, as far as a spool must care (statfs(2)).
package struct FilesystemType: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's magic number of the type.
    package let magic: UInt64

    /// Whether other hosts, or a process behind FUSE, may change it without inotify(7) telling: it must be polled.
    package var isShared: Bool { sharedTypes[magic] != nil }

    /// Its usual name, or the number in hexadecimal.
    package var description: String {
        sharedTypes[magic] ?? localTypes[magic] ?? "0x" + String(magic, radix: 16)
    }
}

/// Room left on a filesystem.
package struct FilesystemSpace: Hashable, Sendable {
    /// Bytes that we may still write.
    package let freeByteCount: Int64
    /// All bytes there are.
    package let byteCount: Int64
    /// Files that can still be made; `nil` where the filesystem has no such limit (btrfs).
    package let freeFileCount: Int64?

    /// Room as somebody else has found it.
    package init(freeByteCount: Int64, byteCount: Int64, freeFileCount: Int64?) {
        (self.freeByteCount, self.byteCount, self.freeFileCount) = (freeByteCount, byteCount, freeFileCount)
    }
}

extension Directory {
    /// The type of filesystem that it is on.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func filesystemType() throws(SystemError) -> FilesystemType {
        FilesystemType(magic: UInt64(truncatingIfNeeded: try filesystem().type))
    }

    /// The room left on the filesystem that it is on.
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

/// From linux/magic.h and the filesystems' own sources.
private let sharedTypes: [UInt64: String] = [
    0x6969: "nfs", 0x517B: "smb", 0xFE53_4D42: "smb2", 0xFF53_4D42: "cifs", 0x00C3_6400: "ceph",
    0x6573_5546: "fuse", 0x0102_1997: "9p", 0x5346_414F: "afs", 0x6B41_4653: "kafs", 0x0116_1970: "gfs2",
    0x7461_636F: "ocfs2", 0x0BD0_0BD0: "lustre", 0x4750_4653: "gpfs", 0x7375_7245: "coda", 0x786F_4256: "vboxsf",
]

private let localTypes: [UInt64: String] = [
    0xEF53: "ext4", 0x5846_5342: "xfs", 0x9123_683E: "btrfs", 0x0102_1994: "tmpfs", 0x794C_7630: "overlay",
    0xF2F5_2010: "f2fs", 0x2FC1_2FC1: "zfs", 0xCA45_1A4E: "bcachefs", 0x8584_58F6: "ramfs",
]
