import Foundation
import GatewaySimulator
import TestSupport
import Testing

// Several daemons on the spool.
extension Bench {
    /// A setup for several daemons, whose leases are short.
    static func cluster(window: Int = 40, latency: Duration = .milliseconds(10)) -> Setup {
        Setup(window: window, latency: latency)
    }

    /// Lets the app identify itself with provider tokens that it signs with this key.
    func signRequests(with key: [UInt8]) throws {
        try TokenApp.keep(key, in: home)
        try write("etc/apps/weather.yaml", TokenApp.file(home: home, port: simulator.ports.http2))
    }

    /// Starts the daemon of a node.
    func start(node: String, _ environment: [String: String] = [:]) throws -> Child {
        let file = "etc/\(node).yaml"
        try FileManager.default.createDirectory(atPath: "\(home)/run-\(node)", withIntermediateDirectories: true)
        try write(
            file,
            """
            spool: \(ground)/spool
            node: \(node)
            cluster: {lease: 1s, patience: 20s}
            intake: {settle: 50ms, patience: 400ms, rescan: 300ms}
            feedback: {every: 20ms}
            journal: {size: 16MiB}
            control: {folder: \(home)/run-\(node)}

            """)
        return try Child(
            [try BuiltProgram.path, "run", "--config", "\(home)/\(file)"], environment: environment,
            logs: home + "/logs")
    }

    /// Starts the daemons of these nodes, and ends all that are left after `body`.
    func withNodes(_ names: String..., body: ([String: Child]) async throws -> Void) async throws {
        var nodes: [String: Child] = [:]
        do {
            for name in names { nodes[name] = try start(node: name) }
            for node in nodes.values { try await node.says("app started") }
            try await body(nodes)
        } catch {
            for node in nodes.values { try? await node.destroy() }
            throw error
        }
        for node in nodes.values { try await node.destroy() }
    }

    /// The names in `work/` of all nodes.
    var claimedByAll: [String] {
        setup.apps.flatMap { app in names(in: app + "/work").flatMap { names(in: "\(app)/work/\($0)") } }
    }

    /// Waits until all jobs are in `done/`.
    func allDone(within limit: Duration = patience) async throws {
        try await eventually("all done; in work: \(claimedByAll)", within: limit) {
            let done = setup.apps.flatMap(archived).count { $0.hasPrefix("done/") && !$0.hasSuffix(".result.json") }
            return done == drops.count && claimedByAll.isEmpty
        }
    }

    /// How many notifications did not arrive, and how many arrived once too often.
    func losses() async throws -> (lost: Int, doubled: Int) {
        var counts: [Recipient: Int] = [:]
        for entry in try await entries() {
            if let recipient = Recipient(token: entry.token) { counts[recipient, default: 0] += 1 }
        }
        let wanted = drops.all.flatMap(\.recipients)
        return (wanted.count { counts[$0] == nil }, counts.values.reduce(0) { $0 + $1 - 1 })
    }
}
