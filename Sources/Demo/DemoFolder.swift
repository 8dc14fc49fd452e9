import GatewaySimulator
import LinuxIO

/// The folder of one demo, with configuration, certificates, spool and log.
package struct DemoFolder {
    /// Its path.
    package let path: String

    var configuration: String { path + "/etc/pushspool.yaml" }
    var spool: String { path + "/spool" }
    var log: String { path + "/daemon.log" }
    var ledger: String { path + "/gateway.jsonl" }

    /// Creates the folder. Only its owner may enter it, since it contains private keys.
    ///
    /// - Throws: `DemoFault` if the folder exists; `SystemError` if it cannot be created.
    package static func make(at path: String?) throws -> DemoFolder {
        let path = path ?? "/tmp/pushspool-demo-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        let place = FilePlace(path)
        let parent = try Directory.open(path: place.directory)
        guard try parent.status(of: place.nameBytes) == nil else {
            throw DemoFault(message: "\(path) already exists", hint: "choose another place with --folder")
        }
        let folder = try parent.makeChild(place.nameBytes, mode: 0o700)
        for child in ["etc", "spool"] { _ = try folder.makeChild(Array(child.utf8), mode: 0o755) }
        _ = try folder.openChild(Array("etc".utf8)).makeChild(Array("apps".utf8), mode: 0o755)
        return DemoFolder(path: path)
    }

    /// Writes the credentials and the configuration of a daemon that connects to the simulator.
    ///
    /// - Throws: `SimulatorFault` and `SystemError` if the folder cannot be written.
    func write(
        _ demoApps: [DemoApp], for simulator: Simulator, _ credentials: DemoCredentials
    ) throws {
        try simulator.certificates.write(into: path + "/etc/certificates")
        let etc = try Directory.open(path: path + "/etc")
        try etc.create(Array(credentials.keyName.utf8), mode: 0o600).write(credentials.privateKey)
        try etc.create(Array(DemoCredentials.serviceAccountName.utf8), mode: 0o600).write(credentials.serviceAccount)
        try write(
            """
            spool: ../spool
            state: ../state
            node: demo
            intake: {patience: 2s}
            feedback: {every: 250ms}

            """, "pushspool.yaml", in: etc)
        let apps = try etc.openChild(Array("apps".utf8))
        for app in demoApps {
            try write(Self.text(of: app, credentials, at: simulator.ports), app.rawValue + ".yaml", in: apps)
        }
    }

    /// The text of an app's file.
    private static func text(of app: DemoApp, _ credentials: DemoCredentials, at ports: Simulator.Ports) -> String {
        """
        \(identity(of: app, credentials, at: ports))
        gateway: localhost:\(port(of: app, ports))
        trust: ../certificates/ca.pem

        """
    }

    /// The lines that differ by more than a port.
    private static func identity(of app: DemoApp, _ credentials: DemoCredentials, at ports: Simulator.Ports) -> String {
        switch app {
        case .weather:
            """
            protocol: http2
            environment: sandbox
            topic: \(app.topic)
            credentials:
              token: {key: ../\(credentials.keyName), key_id: \(credentials.key.keyID), team_id: \(credentials.key.teamID)}
            retry: {later: 1s}                 # 30s at a real gateway
            channels: {match-7: {id: \(DemoJobs.channel), policy: latest}}
            """
        case .news:
            """
            protocol: http2
            environment: sandbox
            credentials: {certificate: ../certificates/client.pem}
            """
        case .legacy:
            """
            protocol: binary
            environment: sandbox
            credentials: {certificate: ../certificates/client.pem}
            feedback_service: {gateway: "localhost:\(ports.feedback)", every: 1s}
            binary: {confirm_after: 1s}        # 3s or more at a real gateway
            """
        case .android:
            """
            protocol: fcm
            credentials: {service_account: ../\(DemoCredentials.serviceAccountName)}
            token_gateway: localhost:\(ports.oauth)
            """
        }
    }

    private static func port(of app: DemoApp, _ ports: Simulator.Ports) -> Int {
        switch app {
        case .weather, .news: ports.http2
        case .legacy: ports.gateway
        case .android: ports.fcm
        }
    }

    private func write(_ text: String, _ name: String, in directory: Directory) throws(SystemError) {
        try directory.create(Array(name.utf8), mode: 0o644).write(Array(text.utf8))
    }
}
