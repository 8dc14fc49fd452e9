import Glibc

/// The mounts that this process sees, from /proc/self/mountinfo (proc(5)).
package enum MountTable {
    /// A mount: the type of its filesystem, and its options, those of the mount first.
    package struct Mount: Hashable, Sendable {
        /// The type, such as `ext4`, `nfs4` or `fuse.glusterfs`.
        package let type: String
        /// The options of the mount and of its filesystem.
        package let options: [String]
    }

    private static let byteLimit = 4 << 20

    /// Returns the mount that a directory is on, found by its device.
    ///
    /// - Returns: `nil` if the table does not show it, as for btrfs, whose subvolumes have devices of their own.
    /// - Throws: `SystemError`: the table or the directory cannot be read.
    package static func mount(of directory: Directory) throws(SystemError) -> Mount? {
        let device = try directory.status().device
        // dev_t as in glibc's gnu_dev_major and gnu_dev_minor.
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        let table = try Directory.open(path: "/proc/self").contents(of: Array("mountinfo".utf8), limit: byteLimit)
        return mount(of: "\(major):\(minor)", in: String(decoding: table ?? [], as: UTF8.self))
    }

    /// Finds a device in the text of the table. Of several mounts of it, returns the last.
    static func mount(of device: String, in text: String) -> Mount? {
        for line in text.split(separator: "\n").reversed() {
            // 36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/root rw,errors=continue
            let words = line.split(separator: " ")
            guard words.count > 6, words[2] == device, let end = words.firstIndex(of: "-"), end + 1 < words.count
            else { continue }
            let options = [words[5]] + (end + 3 < words.count ? [words[end + 3]] : [])
            return Mount(
                type: String(words[end + 1]), options: options.flatMap { $0.split(separator: ",").map(String.init) })
        }
        return nil
    }
}
