import APNSHTTP2
import GatewaySimulator
import LinuxIO
import Logging
import OpenSSL
import PushDaemon
import ServiceProcess

/// Lets clients that know nothing of pushspool push through its doors: curl to the APNs relay and to the JSON door, and
/// Python's `xmlrpc.client` as a client of pyapns.
package struct DoorDemo {
    private static let timeLimit = Duration.seconds(60)
    private static let identity = ("DOORKEY001", "FLEETTEAM1")
    private static let bearer = "demo-0123456789abcdef"

    private let folder: DemoFolder
    private let version: String
    /// The program `pushspool-door`.
    private let program: String

    /// Creates a run. `pushspool-door` must be beside the running program, or in PATH.
    package init(folder: DemoFolder, version: String, beside ownPath: String) {
        (self.folder, self.version) = (folder, version)
        let place = FilePlace(ownPath).directory + "/pushspool-door"
        program = ownPath.contains("/") && ProgramPath.finds(place) ? place : "pushspool-door"
    }

    /// Runs the demo.
    ///
    /// - Returns: The report.
    /// - Throws: `DemoFault` if a program is missing or does not end in time, and all errors that prevent the start of the
    ///   gateway or the daemon.
    package func run() async throws -> DoorDemoReport {
        for needed in [program, "curl", "python3"] where !ProgramPath.finds(needed) {
            throw DemoFault(message: "\(needed) is not installed", hint: "install it; this scenario shows its requests")
        }
        let credentials = try DemoCredentials()
        var configuration = Simulator.Configuration()
        configuration.topic = DemoApp.weather.topic
        configuration.ledgerPath = folder.ledger
        configuration.requestRules.keys = [credentials.key]
        configuration.requestRules.unregistered = [DoorDemoClient.uninstalled.bytes: 1_795_000_000_123]
        configuration.logger = Logger(label: "gateway") { _ in SwiftLogNoOpLogHandler() }
        return try await Simulator.running(configuration) { simulator in
            try folder.write([.weather], for: simulator, credentials)
            let log = try DemoLog(path: folder.path)
            var settings = Daemon.Settings(path: folder.configuration, signals: try BlockedSignals([]))
            settings.version = version
            let daemon = try DemoRun.daemon(settings, log)
            return try await withThrowingTaskGroup { group in
                group.addTask { try await daemon.run() }
                let report = try await self.push(to: simulator, until: .now + Self.timeLimit)
                group.cancelAll()
                if let failure = log.failure { throw failure }
                return report
            }
        }
    }

    private func push(to simulator: Simulator, until deadline: ContinuousClock.Instant) async throws -> DoorDemoReport {
        let token = try writeDoors()
        try await awaitApp(until: deadline)
        let door = try start("exec \(program) run --config \(folder.path)/etc/doors.yaml", log: "door.log")
        defer { door.terminate() }
        let ports = try await self.ports(of: door, until: deadline)
        var answers: [(client: DoorDemoClient, text: String)] = []
        for client in DoorDemoClient.all(ports: ports, bearer: Self.bearer, token: token, folder: folder.path) {
            try write(client.script, "clients/\(client.name)")
            let process = try start(
                "exec \(client.interpreter) \(folder.path)/clients/\(client.name)", log: "\(client.name).out")
            try await wait(for: client.name, until: deadline) { process.ended() != nil }
            answers.append((client, try text(of: "\(client.name).out")))
        }
        let wanted = DoorDemoClient.good.count
        let end = min(deadline, .now + .seconds(10))
        while await simulator.ledger.acceptedCount < wanted, .now < end { try await Task.sleep(for: .milliseconds(50)) }
        return DoorDemoReport(folder: folder, answers: answers, ledger: await simulator.ledger)
    }

    // MARK: Files

    /// Writes the doors' configuration and credentials.
    ///
    /// - Returns: A provider token of the producer.
    private func writeDoors() throws -> String {
        let root = try Directory.open(path: folder.path)
        for name in ["clients", "doorstate"] { _ = try root.makeChild(Array(name.utf8), mode: 0o700) }
        let authority = try CertificateAuthority(commonName: "Demo")
        let server = try authority.issue(.server(["localhost"]))
        let key = try ThrowawayTokenKey()
        try write(authority.certificatePEM(), "etc/door-ca.pem")
        try write(server.certificatePEM() + server.keyPEM(), "etc/door.pem")
        try write(key.publicKeyPEM, "etc/fleet.pem")
        try write(Array((Self.bearer + "\n").utf8), "etc/cron.token")
        try write(
            """
            spool: ../spool
            state: ../doorstate
            producers:
              fleet: {key: fleet.pem, key_id: \(Self.identity.0), team_id: \(Self.identity.1), apps: [weather]}
              cron: {bearer_file: cron.token, apps: "*"}
            apns: {listen: "127.0.0.1:0", certificate: door.pem, answer: gateway}
            http: {listen: "127.0.0.1:0"}
            xmlrpc: {listen: "127.0.0.1:0"}

            """, "etc/doors.yaml")
        guard let identity = ProviderIdentity(keyID: Self.identity.0, teamID: Self.identity.1) else {
            preconditionFailure("ten letters and digits")
        }
        let issuedAt = WallClock.nanoseconds() / 1_000_000_000
        let input = ProviderToken.signingInput(identity: identity, issuedAt: issuedAt)
        let signature = try key.signer.sign(input.span)
        return ProviderToken(identity: identity, issuedAt: issuedAt, signature: signature).text
    }

    private func write(_ text: String, _ name: String) throws { try write(Array(text.utf8), name) }

    /// Writes a file that only its owner may read.
    private func write(_ bytes: [UInt8], _ name: String) throws {
        let place = FilePlace(folder.path + "/" + name)
        try Directory.open(path: place.directory).create(place.nameBytes, mode: 0o600).write(bytes)
    }

    /// Returns what a program has printed so far; nothing if the shell has not created the file yet.
    private func text(of name: String) throws -> String {
        do {
            let bytes = try OpenFile.open(path: folder.path + "/clients/" + name).contents(limit: 1 << 20)
            return String(decoding: bytes ?? [], as: UTF8.self)
        } catch {
            guard error.isNotFound else { throw error }
            return ""
        }
    }

    // MARK: Programs

    /// Starts a command of the shell whose output goes to a file in `clients/`.
    private func start(_ command: String, log: String) throws -> ChildProcess {
        let environment = ["PATH=\(EnvironmentVariable.value("PATH") ?? "/usr/bin:/bin")"]
        let input = try OpenFile.open(path: "/dev/null")
        return try ChildProcess.start(
            ["sh", "-c", "\(command) > \(folder.path)/clients/\(log) 2>&1"], environment: environment, input: input)
    }

    private func wait(for what: String, until deadline: ContinuousClock.Instant, _ check: () throws -> Bool)
        async throws
    {
        while try !check() {
            guard .now < deadline else {
                throw DemoFault(message: "\(what) took too long", hint: "see \(folder.path)/clients and \(folder.log)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the daemon has published the list of apps.
    private func awaitApp(until deadline: ContinuousClock.Instant) async throws {
        let list = "\(folder.spool)/.pushspool/public/demo/apps.json"
        try await wait(for: "the start of the daemon", until: deadline) {
            guard let file = try? OpenFile.open(path: list), let bytes = try? file.contents(limit: 1 << 20) else {
                return false
            }
            return String(decoding: bytes, as: UTF8.self).contains("\"weather\"")
        }
    }

    /// Waits until the doors are open, and reads their ports from their log.
    private func ports(of door: ChildProcess, until deadline: ContinuousClock.Instant) async throws
        -> DoorDemoClient.Ports
    {
        var log = ""
        try await wait(for: "the start of pushspool-door", until: deadline) {
            log = try text(of: "door.log")
            if door.ended() != nil { throw DemoFault(message: "pushspool-door has ended", hint: log) }
            return log.contains("started path=")
        }
        let ports = ["relay", "http", "xmlrpc"].map { name in
            let start = log.firstRange(of: "\(name) listens path=127.0.0.1:")?.upperBound ?? log.endIndex
            return String(log[start...].prefix { $0.isNumber })
        }
        return .init(relay: ports[0], http: ports[1], xmlrpc: ports[2])
    }
}
