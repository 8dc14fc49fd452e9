import SpoolModel
import TestSupport
import Testing

/// On which filesystems several nodes may share a spool.
struct ClusterMountTests {
    @Test(arguments: [
        ("nfs4", "rw,vers=4.2,hard,proto=tcp,local_lock=none"), ("nfs4", "rw,vers=4.1"),
        ("nfs4", "rw,vers=4,minorversion=1"), ("fuse.glusterfs", "rw"),
        ("ceph", "rw"), ("ext4", "rw,relatime"), ("xfs", "rw"), ("btrfs", "rw"), ("tmpfs", "rw"), ("unheardof", "rw"),
    ])
    func `these are safe, as far as is known`(type: String, options: String) {
        let mount = ClusterMount(type: type, options: options.split(separator: ",").map(String.init))
        #expect(mount.fault == nil && mount.warning == nil)
    }

    @Test(arguments: [
        ("nfs", "rw,vers=3", "version 4.1"), ("nfs4", "rw", "version 4.1"), ("nfs4", "rw,vers=4.0", "NFS version 4.0"),
        ("nfs4", "rw,vers=4", "version 4.1"), ("nfs4", "vers=4.2,local_lock=all", "locks"),
        ("nfs4", "vers=4.2,nocto", "nocto"), ("fuse.sshfs", "rw", "fuse.sshfs"), ("fuseblk", "rw", "fuseblk"),
        ("cifs", "rw", "cifs"), ("9p", "rw", "9p"),
    ])
    func `these are refused, and it is said why`(type: String, options: String, word: String) {
        let mount = ClusterMount(type: type, options: options.split(separator: ",").map(String.init))
        #expect(mount.fault?.message.contains(word) == true && mount.fault?.hint.isEmpty == false)
    }

    @Test func `a soft mount is warned of`() {
        #expect(ClusterMount(type: "nfs4", options: ["vers=4.2", "soft"]).warning?.message.contains("soft") == true)
    }
}
