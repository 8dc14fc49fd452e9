import APNSModel
import ArgumentParser
import CommandProgram
import Configuration
import Document
import FCMModel
import GatewaySimulator
import LinuxIO
import Logging
import PushDaemon
import PushModel
import ServiceProcess
import SpoolInspection

/// The command `pushspool simulate`.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a gateway that misbehaves on request.",
        discussion: """
            Serves the binary protocol, the feedback service, Apple's HTTP/2, FCM and its token endpoint over TLS. Writes \
            ca.pem, server.pem, client.pem, a key for provider tokens, AuthKey_ABC123DEFG.p8, and the file of a service \
            account, service-account.json, to the certificates' folder if they are missing, and prints the configuration of \
            an app for each gateway. Ends on INT or TERM and prints the number of notifications that \
            arrived. A fault is a rule, such as 'every=997 refuse status=8 delay=1s' for the binary protocol or \
            'every=997 answer' for HTTP/2 and FCM.

            Example: pushspool simulate --certificates /tmp/gateway --http2-port 8443 --fault 'every=500 goaway undone=3'
            """)

    @Option(
        help: ArgumentHelp(
            "The address to listen on; a new server certificate is also for it.", valueName: "address"))
    var address = "127.0.0.1"

    @Option(help: ArgumentHelp("The gateway's port; 0 for any.", valueName: "port"))
    var port = 0

    @Option(help: ArgumentHelp("The feedback service's port; 0 for any.", valueName: "port"))
    var feedbackPort = 0

    @Option(name: .customLong("http2-port"), help: ArgumentHelp("The port for HTTP/2; 0 for any.", valueName: "port"))
    var http2Port = 0

    @Option(name: .customLong("fcm-port"), help: ArgumentHelp("The port for FCM; 0 for any.", valueName: "port"))
    var fcmPort = 0

    @Option(
        name: .customLong("oauth-port"),
        help: ArgumentHelp("The port of FCM's token endpoint; 0 for any.", valueName: "port"))
    var oauthPort = 0

    @Option(help: ArgumentHelp("How long an answer takes over HTTP/2, such as 50ms.", valueName: "time"))
    var latency = "0"

    @Option(
        help: ArgumentHelp(
            "How many streams a client may have open over HTTP/2; without it, 1000 at Apple's and 100 at FCM.",
            valueName: "count"))
    var streams: Int?

    @Option(
        help: ArgumentHelp("How many messages FCM takes in a minute; more get 429.", valueName: "count"))
    var quota: Int?

    @Option(help: ArgumentHelp("How long an access token of FCM's is valid.", valueName: "time"))
    var accessTokenLifetime = "3599s"

    @Option(
        help: ArgumentHelp("The folder of the certificates, written if they are missing.", valueName: "folder"),
        completion: .directory)
    var certificates: String

    @Option(help: ArgumentHelp("The topic of a new client certificate.", valueName: "topic"))
    var topic = "com.example.weather"

    @Option(name: .long, help: ArgumentHelp("A rule for misbehaving; repeatable.", valueName: "rule"))
    var fault: [String] = []

    @Option(help: ArgumentHelp("A file of such rules, one per line.", valueName: "file"), completion: .file())
    var script: String?

    @Option(
        help: ArgumentHelp("A new file that gets a JSON line for each notification.", valueName: "file"),
        completion: .file())
    var ledger: String?

    @Option(help: ArgumentHelp("A token to refuse, with status 8, 410 or 404; repeatable.", valueName: "token"))
    var badToken: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file of tokens to refuse, one per line, that the feedback service also reports.",
            valueName: "file"),
        completion: .file())
    var gone: String?

    @Flag(help: "Make client.pem with an RSA key, for clients that can read only those.")
    var rsa = false

    func run() async throws {
        do {
            let simulator = try await Simulator(try configuration())
            describe(simulator)
            try await serve(simulator, until: Program.signals)
            let ledger = await simulator.ledger
            Talk.note(
                "accepted \(ledger.acceptedCount), refused \(ledger.refusedCount), discarded \(ledger.discardedCount), connections \(ledger.connectionCount), violations \(ledger.violationCount)"
            )
            for violation in ledger.violations.prefix(10) { Talk.complain("\(violation)", hint: nil) }
        } catch let fault as SimulatorFault {
            Talk.complain(fault.message, hint: fault.hint)
            throw ExitCode.badConfiguration
        } catch let diagnostic as Diagnostic {
            Talk.complain(diagnostic.message, hint: diagnostic.hint)
            throw ExitCode.badInput
        } catch let error as SystemError where error.isShortage {
            Talk.complain("\(error)", hint: "raise the limits on open files and memory, and start again")
            throw ExitCode.tryAgain
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "check the path and its permissions")
            throw ExitCode.badInput
        }
    }

    private func configuration() throws -> Simulator.Configuration {
        var configuration = Simulator.Configuration()
        configuration.address = address
        configuration.gatewayPort = port
        configuration.feedbackPort = feedbackPort
        configuration.http2Port = http2Port
        (configuration.fcm.port, configuration.fcm.oauthPort) = (fcmPort, oauthPort)
        configuration.topic = topic
        configuration.detail = ledger == nil ? .counts : .everything
        configuration.ledgerPath = ledger
        configuration.script = try rules()
        let gone = try goneTokens()
        let goneTokens = gone.compactMap { DeviceToken($0)?.bytes }
        let bad = try badToken.map(token)
        configuration.rules.unregistered = Set(bad.compactMap { DeviceToken($0)?.bytes }).union(goneTokens)
        configuration.fcm.rules.unregistered = Set(bad + gone)
        let now = WallClock.nanoseconds() / 1_000_000
        let second = UInt32(clamping: now / 1_000)
        configuration.feedback = goneTokens.map { GoneToken(token: $0, epochSeconds: second) }
        configuration.tellsRefusedTokens = true
        configuration.requestRules.unregistered = Dictionary(
            configuration.rules.unregistered.map { ($0, now) }, uniquingKeysWith: min)
        if let streams {
            (configuration.http2Manner.streamLimit, configuration.fcm.manner.streamLimit) = (streams, streams)
        }
        configuration.http2Manner.latency = try duration(latency, of: "--latency")
        configuration.fcm.manner.latency = configuration.http2Manner.latency
        configuration.fcm.rules.quota = quota.map(FCMRules.Quota.init(messageCount:))
        configuration.fcm.rules.accessTokenLifetime = try duration(accessTokenLifetime, of: "--access-token-lifetime")
        configuration.logger = LineLogHandler.queued("simulator", LogThreshold(.notice), format: .text)
        // Create files last, so that invalid options leave none.
        configuration.certificates = try readOrMakeCertificates()
        configuration.requestRules.keys = [try Self.key(in: certificates)]
        configuration.fcm.rules.projects = [try Self.project(in: certificates)]
        return configuration
    }

    /// The rules of the script followed by those of the command line. Error messages call the second `--fault` line 2.
    private func rules() throws -> FaultScript {
        let written = try script.map { String(decoding: try ConfigurationFile.read($0).bytes, as: UTF8.self) } ?? ""
        let given = fault.joined(separator: "\n")
        try check(written, from: script ?? "--script")
        try check(given, from: "--fault")
        return try FaultScript(written + "\n" + given)
    }

    /// Reports the first invalid rule, if there is one.
    private func check(_ rules: String, from place: String) throws {
        do throws(FaultScript.Fault) {
            _ = try FaultScript(rules)
        } catch {
            Talk.complain("\(place):\(error.line):\(error.column): \(error.message)", hint: error.hint)
            throw ExitCode.badInput
        }
    }

    private func token(_ text: String) throws -> String {
        guard Self.isToken(text) else {
            throw ValidationError(
                "--bad-token takes hexadecimal digits, or a registration token or an installation ID of FCM.")
        }
        return text
    }

    /// Whether a text can be a device token of Apple's, or a registration token or an installation's ID of FCM's.
    private static func isToken(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return DeviceToken(text) != nil || AddressRule.registrationToken.fault(of: bytes.span) == nil
            || AddressRule.installation.fault(of: bytes.span) == nil
    }

    private func duration(_ text: String, of option: String) throws -> Duration {
        do {
            return try DurationText.parse(text)
        } catch {
            throw ValidationError("\(option): \(error.message); \(error.hint)")
        }
    }

    /// Prints an app's file, followed by one for each of the other protocols in comments.
    private func describe(_ simulator: Simulator) {
        // Absolute, because paths in an app's file are relative to that file's folder.
        let folder = Host.workingFolder.map { ConfigurationFile.resolve(certificates, in: $0) } ?? certificates
        let key = "\(folder)/AuthKey_\(Self.keyID).p8"
        Talk.say(
            """
            protocol: http2
            environment: sandbox
            topic: \(topic)
            credentials: {token: {key: \(key), key_id: \(Self.keyID), team_id: \(Self.teamID)}}
            trust: \(folder)/ca.pem
            gateway: localhost:\(simulator.ports.http2)

            # For FCM, in a file of its own:
            # protocol: fcm
            # credentials: {service_account: \(folder)/\(Self.serviceAccount)}
            # trust: \(folder)/ca.pem
            # gateway: localhost:\(simulator.ports.fcm)
            # token_gateway: localhost:\(simulator.ports.oauth)

            # Over the binary protocol instead; over HTTP/2, too, this certificate is an identity:
            # protocol: binary
            # environment: sandbox
            # credentials: {certificate: \(folder)/client.pem}
            # trust: \(folder)/ca.pem
            # gateway: localhost:\(simulator.ports.gateway)
            # feedback_service: {gateway: localhost:\(simulator.ports.feedback), every: 1h}
            """)
    }

    private func serve(_ simulator: Simulator, until signals: BlockedSignals) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await simulator.run() }
            group.addTask { [ear = SignalReader(try Reactor(name: "signals"), signals)] in _ = try await ear.next() }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// The certificates in the folder. If it has none, new ones are created there.
    private func readOrMakeCertificates() throws -> Certificates {
        if let authority = try? ConfigurationFile.read(certificates + "/ca.pem").bytes {
            let server = try ConfigurationFile.read(certificates + "/server.pem").bytes
            return Certificates(authority: authority, server: server)
        }
        var hosts = Certificates.localHosts
        if !hosts.contains(address) { hosts.append(address) }
        let made = try Certificates.throwaway(topic: topic, hosts: hosts, usesRSA: rsa)
        try made.write(into: certificates)
        return made
    }

    /// The tokens in the file given by `--gone`.
    private func goneTokens() throws -> [String] {
        guard let gone else { return [] }
        let text = String(decoding: try ConfigurationFile.read(gone).bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        return try lines.filter { !$0.element.allSatisfy(\.isWhitespace) }.map { number, line in
            guard Self.isToken(String(line)) else {
                Talk.complain(
                    "\(gone):\(number + 1): not a token",
                    hint: "write one token per line: hexadecimal digits, or a registration token of FCM")
                throw ExitCode.badInput
            }
            return String(line)
        }
    }

    private static let keyID = "ABC123DEFG"
    private static let teamID = "DEF123GHIJ"
    private static let serviceAccount = "service-account.json"

    /// The project of the service account in a folder. If it has none, new ones are created there.
    private static func project(in folder: String) throws -> FCMProject {
        let path = "\(folder)/\(serviceAccount)"
        guard let file = try? ConfigurationFile.read(path).bytes else { return try .making(path) }
        return try FCMProject(serviceAccount: file)
    }

    /// The key for provider tokens in a folder. If it has none, a new one is created there.
    private static func key(in folder: String) throws -> RegisteredKey {
        guard let privateKey = try? ConfigurationFile.read(folder + "/AuthKey_\(keyID).p8").bytes else {
            return try .making(in: folder, keyID: keyID, teamID: teamID)
        }
        return try RegisteredKey(keyID: keyID, teamID: teamID, privateKey: privateKey)
    }
}
