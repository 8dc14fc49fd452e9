import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// A network of its own, with a gateway in it as a program: there packets can be dropped without harm to others.
///
/// Its ledger is a file, which is the oracle.
struct Island: Sendable {
    private let network: Namespace
    private let home: String
    static let ports = (binary: 2195, http2: 8443)

    /// Why there can be none here; `nil`: there can.
    static var obstacle: String? {
        if getuid() != 0 { return "only root can make a network namespace" }
        let missing = ["unshare", "nsenter", "ip", "nft"].first { !Volume.isInstalled($0) }
        if let missing { return "\(missing) is not installed (make test installs it)" }
        return Namespace.isPossible(.network) ? nil : "network namespaces are forbidden here"
    }

    /// Makes the network; certificates and logs are kept in `home`.
    init(home: String) async throws {
        self.home = home
        network = try await Namespace(.network)
        try await tool(inside(["ip", "link", "set", "lo", "up"]), logs: home)
    }

    /// A command that runs on it.
    func inside(_ command: [String]) -> [String] { network.inside(command) }

    /// Runs a gateway on it while `body` runs.
    func withGateway(_ faults: [String] = [], _ body: () async throws -> Void) async throws {
        let options = faults.flatMap { ["--fault", $0] }
        let command = [
            try BuiltProgram.path, "simulate", "--certificates", home + "/certificates", "--ledger", home + "/ledger",
            "--port", "\(Self.ports.binary)", "--http2-port", "\(Self.ports.http2)", "--streams", "100",
        ]
        let gateway = try Child(inside(command + options), logs: home + "/logs")
        do {
            try await gateway.says("protocol: http2")
            try await body()
        } catch {
            try await gateway.destroy()
            throw error
        }
        #expect(try await gateway.stop() == 0, "\(gateway.log)")
    }

    /// Lets every packet to and from the gateway vanish until `openAgain()`; nobody is told.
    func swallow() async throws {
        let ports = "{ \(Self.ports.binary), \(Self.ports.http2) }"
        for command in [
            "add table inet fault", "add chain inet fault out { type filter hook output priority 0; }",
            "add rule inet fault out tcp dport \(ports) drop", "add rule inet fault out tcp sport \(ports) drop",
        ] {
            try await tool(inside(["nft", command]), logs: home)
        }
    }

    /// Lets packets through again.
    func openAgain() async throws {
        try await tool(inside(["nft", "delete table inet fault"]), logs: home)
    }

    /// Whether a gateway has begun to write.
    var isServed: Bool { FileManager.default.fileExists(atPath: home + "/ledger") }

    /// What the gateway has written so far.
    func entries() throws -> [Ledger.Entry] {
        try Ledger.entries(ofLines: Array(Data(contentsOf: URL(fileURLWithPath: home + "/ledger"))))
    }

    /// Ends the network.
    func release() async throws { try await network.release() }
}
