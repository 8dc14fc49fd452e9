package import LinuxIO
package import SpoolModel

/// What the filesystem of a shared spool does, found by trying it. Both the daemon at its start and the doctor ask.
package struct ClusterProbe: Sendable {
    /// The largest difference between this host's clock and the file server's that is not worth a warning.
    private static let skewLimit = Duration.seconds(2)

    /// The filesystem, as the kernel's mount table describes it; `nil` if the table does not show it.
    package let mount: ClusterMount?
    /// Whether another open of a locked file sees the lock.
    package let showsLocks: Bool
    /// How far the file server's clock is ahead of this host's.
    package let skew: Duration

    /// Tries what the nodes need, on a file of its own in a node's folder. Blocks.
    ///
    /// - Parameter directory: `.pushspool/<node>/`.
    /// - Throws: `SystemError`: a create, lock, write, sync, rename or unlink failed: the spool cannot be shared there.
    package init(in directory: Directory) throws(SystemError) {
        mount = try MountTable.mount(of: directory).map { ClusterMount(type: $0.type, options: $0.options) }
        let (name, target) = (Array(".probe".utf8), Array(".probed".utf8))
        for name in [name, target] { try directory.unlink(name) }
        let before = WallClock.nanoseconds()
        let file = try directory.create(name, mode: 0o600)
        try file.write(Array("pushspool".utf8))
        try file.sync()
        let status = try file.status()
        let after = WallClock.nanoseconds()
        let isLocked = try file.lock()
        let isSeen = try directory.openForWriting(name, mode: 0o600).isLockedElsewhere()
        showsLocks = isLocked && isSeen
        try directory.rename(name, to: directory, replacing: target)
        try directory.sync()
        guard try directory.status(of: target)?.inode == status.inode else { throw .stale("renameat", directory.path) }
        try directory.unlink(target)
        // The file was changed between the two times; a filesystem may store whole ticks of its clock only.
        let ahead = status.changedAt - after
        let behind = before - status.changedAt
        skew = .nanoseconds(ahead > 0 ? ahead : behind > 10_000_000 ? -behind : 0)
    }

    /// Why several nodes must not share the spool there; `nil` if nothing is known to be wrong.
    package var fault: ClusterMount.Fault? {
        if let fault = mount?.fault { return fault }
        guard !showsLocks else { return nil }
        return ClusterMount.Fault(
            message: "the filesystem does not show the lock of one open file to another",
            hint: "use NFSv4.2; see pushspool-cluster(7)")
    }

    /// What works and should be corrected all the same.
    package var warnings: [ClusterMount.Fault] {
        var warnings = [mount?.warning].compactMap(\.self)
        if skew > Self.skewLimit || skew < .zero - Self.skewLimit {
            let seconds = skew / .seconds(1)
            let word = seconds > 0 ? "ahead of" : "behind"
            let rounded = (abs(seconds) * 10).rounded() / 10
            warnings.append(
                ClusterMount.Fault(
                    message: "the file server's clock is \(rounded) s \(word) this host's",
                    hint: "run a time service, such as chrony, on both"))
        }
        return warnings
    }
}
