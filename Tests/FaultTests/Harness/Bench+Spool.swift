import Foundation
import LinuxIO
import TestSupport

// What is where in the spool.
extension Bench {
    /// The names in a folder of the spool, such as `weather/new`; none if it is not there.
    func names(in folder: String) -> [String] {
        (try? Directory.open(path: "\(spool)/\(folder)").sortedNames()) ?? []
    }

    /// What producers are told of ended jobs: each name and state.
    func notices(of app: String) -> Set<String> {
        let files = names(in: app + "/tmp/.jobs").filter { $0 != "held" }
        let texts = files.compactMap { try? String(contentsOfFile: "\(spool)/\(app)/tmp/.jobs/\($0)", encoding: .utf8) }
        return Set(
            texts.flatMap { $0.split(separator: "\n") }.compactMap { line in
                // The name, the inode, the path and the result.
                let parts = line.split(separator: "\t", maxSplits: 3)
                return parts.count == 4 ? "\(parts[0]) \(parts[2].prefix { $0 != "/" })" : nil
            })
    }

    /// What was claimed and is not archived.
    func claimed(_ app: String) -> [String] { names(in: app + "/work/node-a") }

    /// The jobs in an archive, by `folder/day/name`; result files included.
    func archived(_ app: String) -> [String] {
        ["done", "failed"].flatMap { folder in
            names(in: "\(app)/\(folder)").flatMap { day in
                names(in: "\(app)/\(folder)/\(day)").map { "\(folder)/\(day)/\($0)" }
            }
        }
    }

    /// Whether nothing is left to do, as far as the folders tell: all that was dropped is in a final place.
    func isIdle() throws -> Bool {
        for app in setup.apps {
            guard names(in: app + "/new").isEmpty, claimed(app).isEmpty else { return false }
        }
        return endedCount >= drops.count
    }

    /// How many jobs are done, failed or held.
    var endedCount: Int {
        setup.apps.reduce(0) { sum, app in
            sum + archived(app).count { !$0.hasSuffix(".result.json") } + names(in: app + "/hold").count
        }
    }

    /// All feedback lines of an app, in order.
    func lines(_ app: String) throws -> [FeedbackLine] {
        try names(in: app + "/feedback").filter { $0.hasSuffix(".jsonl") && !$0.hasPrefix(".") }.flatMap { name in
            try String(contentsOfFile: "\(spool)/\(app)/feedback/\(name)", encoding: .utf8)
                .split(separator: "\n").map { try FeedbackLine($0) }
        }
    }

    /// Every file of the spool with its length, the daemon's own ones left out.
    func snapshot() throws -> [String: Int64] {
        var found: [String: Int64] = [:]
        for app in setup.apps { try collect(app, into: &found) }
        return found
    }

    private func collect(_ path: String, into found: inout [String: Int64]) throws {
        let folder = try Directory.open(path: "\(spool)/\(path)")
        for name in try folder.names() {
            let child = "\(path)/\(String(decoding: name, as: UTF8.self))"
            guard let status = try folder.status(of: name) else { continue }
            if status.kind == .directory {
                try collect(child, into: &found)
            } else {
                found[child] = Int64(status.byteCount)
            }
        }
    }
}
