import GatewaySimulator
import LinuxIO
import PushDaemon

/// The folder of one demo: configuration, certificates, spool and log.
struct DemoFolder {
    /// The one app of the demo.
    static let app = "weather"

    let path: String

    var configuration: String { path + "/etc/pushspool.yaml" }
    var spool: String { path + "/spool" }
    var log: String { path + "/daemon.log" }
    var ledger: String { path + "/gateway.jsonl" }

    /// Makes the folder, which only its owner may enter: there is a private key in it.
    ///
    /// - Throws: `DemoFault` when it is there already; `SystemError` when it cannot be made.
    static func make(at path: String?) throws -> DemoFolder {
        let path = path ?? "/tmp/pushspool-demo-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        let parent = try Directory.open(path: ConfigurationFile.folder(of: path))
        let name = Array(ConfigurationFile.name(of: path).utf8)
        guard try parent.status(of: name) == nil else {
            throw DemoFault(message: "\(path) is there already", hint: "remove it, or choose another place")
        }
        let folder = try parent.makeChild(name, mode: 0o700)
        for child in ["etc", "spool"] { _ = try folder.makeChild(Array(child.utf8), mode: 0o755) }
        _ = try folder.openChild(Array("etc".utf8)).makeChild(Array("apps".utf8), mode: 0o755)
        return DemoFolder(path: path)
    }

    /// Writes the certificates and the configuration of a daemon that talks to the simulator.
    ///
    /// - Throws: `SimulatorFault` and `SystemError` when the folder cannot be written.
    func write(for simulator: Simulator) throws {
        try simulator.certificates.write(into: path + "/etc/certificates")
        let etc = try Directory.open(path: path + "/etc")
        try write(
            """
            spool: ../spool
            state: ../state
            node: demo
            intake: {patience: 2s}
            feedback: {every: 250ms}

            """, "pushspool.yaml", in: etc)
        try write(
            """
            protocol: binary
            environment: sandbox
            topic: com.example.weather
            credentials: {certificate: ../certificates/client.pem}
            trust: ../certificates/ca.pem
            gateway: localhost:\(simulator.ports.gateway)
            feedback_service: {gateway: "localhost:\(simulator.ports.feedback)", every: 1s}
            binary: {confirm_after: 1s}        # 3s or more at a real gateway

            """, DemoFolder.app + ".yaml", in: try etc.openChild(Array("apps".utf8)))
    }

    private func write(_ text: String, _ name: String, in directory: Directory) throws(SystemError) {
        try directory.create(Array(name.utf8), mode: 0o644).write(Array(text.utf8))
    }
}
