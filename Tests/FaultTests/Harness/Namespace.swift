import Foundation
import TestSupport

/// A Linux namespace of its own, mounts' or the network's, which goes with this process whatever happens: one process
/// holds it open, and ends when its input does.
final class Namespace: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case mount = "mnt"
        case network = "net"
        case user

        fileprivate var options: [String] {
            switch self {
            case .mount: ["--mount", "--propagation", "private"]
            case .network: ["--net"]
            case .user: ["--user", "--map-root-user"]
            }
        }
    }

    /// Whether one can be made here: a container may forbid it even to root.
    static func isPossible(_ kind: Kind) -> Bool { possible.contains(kind) }

    private static let possible = Set(Kind.allCases.filter { succeeds(["unshare"] + $0.options + ["true"]) })

    /// Whether a command can be run and ends well.
    static func succeeds(_ command: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        do {
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private let kind: Kind
    private let holder = Process()
    private let leash = Pipe()

    /// Makes one.
    ///
    /// - Throws: what keeps it from being made; only root may.
    init(_ kind: Kind) async throws {
        self.kind = kind
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        holder.arguments = ["unshare"] + kind.options + ["cat"]
        holder.standardInput = leash
        try holder.run()
        try await eventually("a namespace") { try identity(of: "self") != identity(of: "\(holder.processIdentifier)") }
    }

    deinit {
        // At the latest the end of this process closes it.
        try? leash.fileHandleForWriting.close()
    }

    private func identity(of process: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/\(kind.rawValue)")
    }

    /// A command that runs in it.
    func inside(_ command: [String]) -> [String] {
        let option = kind.options[0]
        return ["nsenter", "\(option)=/proc/\(holder.processIdentifier)/ns/\(kind.rawValue)", "--"] + command
    }

    /// A path in it, as everybody else sees it.
    func seen(_ path: String) -> String { "/proc/\(holder.processIdentifier)/root\(path)" }

    /// Lets go of it.
    ///
    /// - Throws: `NotInTime`.
    func release() async throws {
        try leash.fileHandleForWriting.close()
        try await eventually("the end of a namespace") { !holder.isRunning }
    }
}
