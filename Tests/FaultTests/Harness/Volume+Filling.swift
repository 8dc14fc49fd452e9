import Foundation
import Testing

extension Volume {
    private static let filler = "filler"

    /// Takes all its space, to the last block.
    func fill() async throws {
        // Large blocks first, then small ones: what does not fit is what this is for.
        let commands = ["1M", "4k", "1"].map { "dd if=/dev/zero of=\(point)/\(Self.filler)-\($0) bs=\($0) 2>/dev/null" }
        try await run("sh", "-c", commands.joined(separator: "; ") + "; sync -f \(point); true")
    }

    /// Takes all its inodes.
    func fillInodes() async throws {
        try await run(
            "sh", "-c",
            "mkdir -p \(point)/\(Self.filler)-d; cd \(point)/\(Self.filler)-d; seq 1 9999 | xargs touch 2>/dev/null; true"
        )
    }

    /// Gives all that back.
    func empty() async throws {
        try await run("sh", "-c", "rm -rf \(point)/\(Self.filler)-*; sync -f \(point)")
    }

    /// Limits a btrfs volume by quota.
    func limitQuota() async throws {
        try await run("btrfs", "quota", "enable", point)
        try await run("btrfs", "qgroup", "limit", "40M", point)
    }
}
