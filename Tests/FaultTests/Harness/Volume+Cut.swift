import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Runs a test only where such a volume can be had, and says why not elsewhere.
    static func needs(_ kind: Volume.Kind) -> Self {
        let obstacle = Volume.obstacle(kind)
        return .enabled(if: obstacle == nil, Comment(rawValue: obstacle ?? ""))
    }

    /// Runs a test only where these programs are installed.
    static func needs(_ programs: String...) -> Self {
        let missing = programs.first { !Volume.isInstalled($0) }
        return .enabled(
            if: missing == nil, Comment(rawValue: "\(missing ?? "") is not installed (make test installs it)"))
    }

    /// Runs a test only in the full run.
    static var full: Self { .enabled(if: isFullRun, "a long run: PUSHSPOOL_FULL=1") }
}

extension Volume {
    /// Takes its power away: whatever is not on the disk yet stays away. End its processes, then `comeBack()`.
    ///
    /// btrfs knows no such order here: what its image holds at this moment takes its place afterwards.
    func losePower() async throws {
        if shape.kind == .btrfs {
            try await copyImage()
        } else {
            try cut()
        }
    }

    /// Mounts what the loss of power has left.
    func comeBack() async throws {
        try await unmount()
        if shape.kind == .btrfs { try await replaceByCopy() }
        try await mount()
    }

    /// Makes everything that is on it survive a loss of power.
    func settle() async throws {
        try await run("sync", "-f", point)
    }
}

extension Volume.Shape {
    /// A volume that writes nothing by itself for as long as a trial takes.
    static func calm(_ kind: Volume.Kind) -> Self {
        switch kind {
        case .ext4, .btrfs: Self(kind: kind, megabytes: 330, mounting: ["commit=300"])
        case .xfs, .tmpfs, .sshfs: Self(kind: kind)
        }
    }
}
