/// Whether a filesystem is safe for a spool that several nodes share, as far as its type and its mount options tell.
package struct ClusterMount: Hashable, Sendable {
    /// Why it is not safe, and the remedy.
    package struct Fault: Hashable, Sendable {
        /// What is wrong.
        package let message: String
        /// The remedy.
        package let hint: String

        /// Creates a fault.
        package init(message: String, hint: String) { (self.message, self.hint) = (message, hint) }
    }

    /// The type as the kernel's mount table names it: `nfs4`, `fuse.glusterfs`, `ext4`.
    package let type: String
    /// The mount options, such as `vers=4.2`.
    package let options: Set<String>

    /// Creates the description of a mount.
    package init(type: String, options: some Sequence<String>) {
        (self.type, self.options) = (type, Set(options))
    }

    /// The filesystems of one host, on which the nodes can only be daemons of the same host.
    private static let local: Set<String> = ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs"]

    /// Why the nodes must not share a spool there; `nil` if nothing is known to be wrong.
    package var fault: Fault? {
        switch type {
        case "nfs", "nfs4": nfsFault
        case "fuse.glusterfs", "ceph", "fuse.ceph-fuse", "gfs2", "ocfs2", "lustre", "gpfs": nil
        case _ where Self.local.contains(type): nil
        case _ where type.hasPrefix("fuse"):
            Fault(
                message: "a \(type) filesystem does not show one host's locks to another",
                hint: "use NFSv4.2; see pushspool-cluster(7)")
        case "cifs", "smb3", "smbfs", "9p", "vfat", "exfat", "afs":
            Fault(
                message: "locks and renames of a \(type) filesystem are not those that several nodes need",
                hint: "use NFSv4.2; see pushspool-cluster(7)")
        default: nil
        }
    }

    /// Whether other hosts cannot reach the filesystem, as far as is known.
    package var isLocal: Bool { Self.local.contains(type) }

    private var nfsFault: Fault? {
        guard hasSessions else {
            let version = value("vers").map { "NFS version \($0)" } ?? "NFS of an unknown version"
            return Fault(
                message: "\(version) does not stop a node that has lost its lock; version 4.1 or later is needed",
                hint: "mount the spool with vers=4.2")
        }
        if let local = value("local_lock"), local != "none" {
            return Fault(
                message: "this mount keeps locks on the host (local_lock=\(local))",
                hint: "mount the spool without nolock and local_lock")
        }
        guard !options.contains("nocto") else {
            return Fault(
                message: "this mount may show old content of files (nocto)", hint: "mount the spool without nocto")
        }
        return nil
    }

    /// What is allowed and unwise; `nil` if nothing is.
    package var warning: Fault? {
        guard type.hasPrefix("nfs"), options.contains("soft") || options.contains("softerr") else { return nil }
        return Fault(
            message: "a soft mount reports an error when the file server is slow, and the node starts again each time",
            hint: "mount the spool with hard")
    }

    /// Whether the version is 4.1 or later. Older kernels show its second part apart: `vers=4,minorversion=1`.
    private var hasSessions: Bool {
        let parts = (value("vers") ?? "").split(separator: ".").map { Int($0) }
        guard let first = parts.first, let major = first else { return false }
        let minor = (parts.count > 1 ? parts[1] : value("minorversion").flatMap { Int($0) }) ?? 0
        return major > 4 || major == 4 && minor >= 1
    }

    private func value(_ key: String) -> Substring? {
        options.lazy.compactMap { $0.hasPrefix(key + "=") ? $0.dropFirst(key.count + 1) : nil }.first
    }
}
