import CLinux

/// An access control list (acl(5)). The group's bits in the mode of its file are the list's mask, so they show what anyone
/// in the list may do.
package struct AccessList: Sendable {
    /// What the owning group may do, as three bits.
    package let groupPermissions: UInt32

    /// Reads the list of the entry `name` of a directory; `nil` if it has none. Follows no link. Blocks.
    package init?(of name: [UInt8], in directory: Directory) {
        // The largest value of an attribute.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let path = "/proc/self/fd/\(directory.descriptor.rawValue)/\(String(decoding: name, as: UTF8.self))"
        let count = unsafe clinux_access_list(path, &bytes, bytes.count)
        guard count > 4 else { return nil }
        // A version in 4 bytes, then entries: tag and permissions in 2 bytes each, and an id in 4.
        var (group, mask): (UInt32, UInt32) = (0, 7)
        for start in stride(from: 4, through: count - 8, by: 8) {
            switch bytes[start] {
            case 0x04: group = UInt32(bytes[start + 2])
            case 0x10: mask = UInt32(bytes[start + 2])
            default: break
            }
        }
        groupPermissions = group & mask
    }
}
