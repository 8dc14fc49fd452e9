import Foundation
import Glibc
import TestSupport
import Testing

/// A filesystem on an image file, mounted where only its own processes see it: it can be cut off as power loss does it,
/// filled, made read-only and checked, and goes with the test whatever happens.
///
/// It lives in a mount namespace that one process holds open. Other namespaces would pin the mount, and then the old
/// filesystem comes back after a cut; for the same reason each image is a new file.
final class Volume: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case ext4, xfs, btrfs, tmpfs, sshfs

        /// The least that its mkfs takes, in MiB.
        var leastSize: Int { self == .xfs ? 330 : 130 }
    }

    /// What a volume is made with.
    struct Shape: Sendable {
        var kind = Kind.ext4
        var megabytes: Int?
        /// More options of its mkfs, such as `-N 512`.
        var making: [String] = []
        /// Options of its mount.
        var mounting: [String] = []
    }

    let shape: Shape
    /// Where it is mounted, as its processes see it.
    let point: String
    /// The same place as everybody else sees it.
    var seenPoint: String { namespace.seen(point) }
    private let folder: String
    private let namespace: Namespace

    /// Makes one and mounts it.
    ///
    /// - Parameters:
    ///   - shape: what it is to be.
    ///   - folder: where the image and the mount point are made; on another filesystem than it.
    /// - Throws: what keeps it from being made.
    init(_ shape: Shape, in folder: String) async throws {
        (self.shape, self.folder) = (shape, folder)
        point = folder + "/volume"
        for path in [point, folder + "/served"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        namespace = try await Namespace(.mount)
        try await make()
        try await mount()
    }

    private func make() async throws {
        switch shape.kind {
        case .tmpfs: return
        case .sshfs:
            let script = "#!/bin/sh\necho $$ > \(folder)/server\nexec \(Self.server)\n"
            try Data(script.utf8).write(to: URL(fileURLWithPath: ssh))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: ssh)
        case .ext4, .xfs, .btrfs:
            try await tool(["truncate", "-s", "\(shape.megabytes ?? shape.kind.leastSize)M", image], logs: folder)
            try await tool(making, logs: folder)
        }
    }

    /// Goes on in the background, so it must not keep what tells its parent's end.
    private static let alone = """
        for file in /proc/$$/fd/*; do n=${file##*/}; [ $n -gt 2 ] && eval "exec $n>&-"; done; exec sshfs "$@"
        """
    private static let server = "/usr/lib/openssh/sftp-server"
    /// What an sshfs volume shows.
    var served: String { folder + "/served" }
    private var ssh: String { folder + "/ssh" }

    /// The image file.
    var image: String { folder + "/volume.img" }

    private var making: [String] {
        switch shape.kind {
        case .ext4: ["mkfs.ext4", "-q", "-F"] + shape.making + [image]
        case .xfs: ["mkfs.xfs", "-q", "-f"] + shape.making + [image]
        case .btrfs: ["mkfs.btrfs", "-q", "-f"] + shape.making + [image]
        case .tmpfs, .sshfs: ["true"]
        }
    }

    /// A command that runs where the volume is mounted.
    func inside(_ command: [String]) -> [String] { namespace.inside(command) }

    /// Runs a command where the volume is mounted, to its end.
    @discardableResult
    func run(_ command: String...) async throws -> String {
        try await tool(inside(command), logs: folder)
    }

    // MARK: What becomes of it

    /// Mounts it, with more options than its shape has.
    func mount(_ options: String...) async throws {
        let all = shape.mounting + options
        let command =
            switch shape.kind {
            case .tmpfs: ["mount", "-t", "tmpfs"] + words(all) + ["tmpfs", point]
            case .sshfs:
                ["bash", "-c", Self.alone, "sshfs"] + words(all + caching + ["ssh_command=" + ssh])
                    + ["localhost:" + served, point]
            case .ext4, .xfs, .btrfs: ["mount", "-t", shape.kind.rawValue] + words(["loop"] + all) + [image, point]
            }
        try await tool(inside(command), logs: folder)
    }

    /// How long sshfs may show what it once saw, 20 s if nobody says otherwise.
    private var caching: [String] { isFullRun ? [] : ["dcache_timeout=1"] }

    private func words(_ options: [String]) -> [String] {
        options.isEmpty ? [] : ["-o", options.joined(separator: ",")]
    }

    /// Stops, continues or kills what serves an sshfs volume.
    func sendServer(_ signal: Int32) throws {
        let text = try String(contentsOfFile: folder + "/server", encoding: .utf8)
        let number = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        kill(number, signal)
    }

    /// Unmounts it. A program that another test starts at this moment has every file of this process until it executes.
    func unmount() async throws {
        try await eventually("the end of all use of \(point)") {
            let child = try Child(inside(["umount", point]), logs: folder)
            defer { child.forget() }
            let code = try await child.end()
            if child.log.contains("target is busy") { return false }
            try #require(code == 0, "\(child.log)")
            return true
        }
    }

    /// What a loss of power does: nothing that is not on the disk yet gets there. btrfs cannot: see `replaceByCopy()`.
    func cut() throws {
        // Not for programs that other tests start meanwhile: the volume would be in use as long as they run.
        let directory = unsafe open(seenPoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        // EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are one, and so are their flags: not even the log is written.
        var flags: UInt32 = 2
        try #require(unsafe ioctl(directory, 0x8004_587D, &flags) == 0, "\(shape.kind) cannot be shut down")
    }

    /// Takes a copy of the image as it is on the disk at this moment; stop its processes before.
    func copyImage() async throws {
        try await tool(["cp", "--sparse=always", "--reflink=auto", image, image + ".copy"], logs: folder)
    }

    /// Puts the copy in the place of the image; unmount before.
    func replaceByCopy() async throws {
        try FileManager.default.removeItem(atPath: image)
        try FileManager.default.moveItem(atPath: image + ".copy", toPath: image)
    }

    /// Has the filesystem's own program look for damage; unmount before.
    ///
    /// - Returns: what it says against it; `nil`: nothing.
    func damage() async throws -> String? {
        let command =
            switch shape.kind {
            case .ext4: ["e2fsck", "-f", "-n", image]
            case .xfs: ["xfs_repair", "-n", image]
            case .btrfs: ["btrfs", "check", "--readonly", image]
            case .tmpfs, .sshfs: ["true"]
            }
        let child = try Child(command, logs: folder)
        return try await child.end() == 0 ? nil : child.log
    }

    // MARK: Whether it can be had

    /// Why such a volume cannot be had here, in one line; `nil`: it can.
    static func obstacle(_ kind: Kind) -> String? {
        guard geteuid() == 0 else { return "only root can mount a volume" }
        let needed: [String] =
            switch kind {
            case .ext4: ["unshare", "nsenter", "mkfs.ext4", "e2fsck", "losetup"]
            case .xfs: ["unshare", "nsenter", "mkfs.xfs", "xfs_repair", "losetup"]
            case .btrfs: ["unshare", "nsenter", "mkfs.btrfs", "btrfs", "losetup"]
            case .tmpfs: ["unshare", "nsenter"]
            case .sshfs: ["unshare", "nsenter", "sshfs"]
            }
        if let missing = needed.first(where: { !isInstalled($0) }) {
            return "\(missing) is not installed (make test installs it)"
        }
        guard Namespace.isPossible(.mount) else { return "mount namespaces are forbidden here" }
        switch kind {
        case .tmpfs: return nil
        case .sshfs:
            guard FileManager.default.fileExists(atPath: "/dev/fuse") else { return "there is no /dev/fuse" }
            return FileManager.default.fileExists(atPath: server) ? nil : "\(server) is not installed"
        case .ext4, .xfs, .btrfs: break
        }
        guard hasLoopDevice else { return "there is no loop device" }
        let known = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
        return known.contains("\t\(kind.rawValue)\n") ? nil : "this kernel has no \(kind.rawValue)"
    }

    private static let hasLoopDevice = Namespace.succeeds(["losetup", "--find"])

    /// Whether a program is where programs are.
    static func isInstalled(_ name: String) -> Bool {
        ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"].contains {
            FileManager.default.isExecutableFile(atPath: $0 + name)
        }
    }
}

extension Volume {
    /// Unmounts it for good.
    func release() async throws {
        // A trial may have unmounted it already.
        try? await unmount()
        try await namespace.release()
    }
}
