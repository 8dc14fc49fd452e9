import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import Logging
import Synchronization
import TestSupport
import Testing

/// A spool with its configuration, a gateway that keeps the books, and a list of what was dropped, for one trial.
struct Bench: Sendable {
    /// How a bench is made.
    struct Setup: Sendable {
        /// What the gateway does wrong.
        var script = ""
        /// The wire protocol of all apps but `fcmApps`.
        var wire = "http2"
        /// The apps over FCM, whatever `wire` says.
        var fcmApps: Set<String> = []
        /// How many notifications an app may have on the wire without an outcome: what one death may double, with
        /// what is not written yet.
        var window = 100
        /// How many connections an app may have at a time, each with a window.
        var connections = 1
        /// How many results of an app may be on their way to the journal, beside the windows: `journal.sync_records`.
        /// Another number than the usual one must be in `daemon` too.
        var group = 256
        /// How long an answer takes over HTTP/2.
        var latency = Duration.zero
        /// How long an access token of FCM's is valid.
        var accessTokenLifetime = Duration.seconds(3599)
        /// The keys whose provider tokens the gateway takes.
        var keys: [RegisteredKey] = []
        /// The apps.
        var apps = ["weather"]
        /// More lines of each app's file.
        var app = ""
        /// More lines of the daemon's file.
        var daemon = ""
        /// How long an incomplete file is waited for.
        var patience = "400ms"
        /// More of its section on intake, such as `, require_end: in_place`.
        var intake = ""
        /// The volume that the spool is on; `nil`: a plain folder.
        var volume: Volume.Shape?
        /// The app whose folder alone is on the volume; `nil`: the whole spool is.
        var appOnVolume: String?
        /// Whether daemon and gateway are on a network of their own.
        var isOnIsland = false

        /// Whether the gateway ends connections without answering what is on them.
        var endsConnections: Bool { ["close", "cut", "reset"].contains { script.contains($0) } }

        /// The wire protocol of an app.
        func wire(of app: String) -> String { fcmApps.contains(app) ? "fcm" : wire }

        /// How long silence must last over the binary protocol; longer than the gateway may take, on a busy machine, to read
        /// what its kernel has acknowledged, where it ends connections in between.
        var confirmAfter: String { endsConnections ? "3s" : "100ms" }
    }

    let setup: Setup
    let folder: TemporaryDirectory
    let simulator: Simulator
    let volume: Volume?
    let island: Island?
    let drops = DropList()
    private let starts = StartList()
    private let beginning = ContinuousClock.now

    /// Where configuration and logs are: never on the volume.
    var home: String { folder.path }
    /// The folder that the spool is in, as the daemon sees it.
    var ground: String { isSpoolOnVolume ? volume?.point ?? "" : home + "/ground" }
    private var isSpoolOnVolume: Bool { volume != nil && setup.appOnVolume == nil }
    /// The same folder as the test sees it: of an sshfs volume what it shows, which answers whatever hangs, and of whose
    /// changes the volume hears nothing.
    var seenGround: String {
        guard let volume, isSpoolOnVolume else { return home + "/ground" }
        return volume.shape.kind == .sshfs ? volume.served : volume.seenPoint
    }
    /// How long the trial has taken so far, in seconds.
    var age: Double { (beginning.duration(to: .now) / .milliseconds(100)).rounded() / 10 }
    /// The spool as the test sees it.
    var spool: String { seenGround + "/spool" }

    /// How many recipients one death may double, for each app: the windows of its connections, and a group.
    var allowance: Int { setup.window * setup.connections + setup.group }

    /// What tells which daemon something was sent by, and for whom.
    var bookIndex: Books.Index {
        let numbers = Set(drops.all.filter { drops.released.contains($0.name) }.map(\.number))
        return Books.Index(starts: starts.all, released: numbers) { number in
            setup.apps[number % setup.apps.count]
        }
    }

    /// Runs a gateway beside an empty spool while `body` runs.
    @discardableResult
    static func running<Value: Sendable>(
        _ setup: Setup = Setup(), _ body: @Sendable (Bench) async throws -> Value
    ) async throws -> Value {
        try await Turnstile.trials.passing {
            let folder = try TemporaryDirectory()
            let volume: Volume? =
                if let shape = setup.volume { try await Volume(shape, in: folder.path) } else { nil }
            do {
                let value = try await running(setup, in: folder, on: volume, body)
                try await volume?.release()
                return value
            } catch {
                // What is thrown counts; the namespace goes anyway.
                try? await volume?.release()
                throw error
            }
        }
    }

    private static func running<Value: Sendable>(
        _ setup: Setup, in folder: TemporaryDirectory, on volume: Volume?,
        _ body: @Sendable (Bench) async throws -> Value
    ) async throws -> Value {
        let island: Island? = if setup.isOnIsland { try await Island(home: folder.path) } else { nil }
        let value = try await Simulator.running(try gateway(of: setup)) { simulator in
            let bench = Bench(setup: setup, folder: folder, simulator: simulator, volume: volume, island: island)
            try bench.configure()
            try await bench.mountApp()
            return try await body(bench)
        }
        try await island?.release()
        return value
    }

    /// One set of certificates does for all trials, and one service account of FCM's.
    private static let certificates = Result { try Certificates.throwaway() }
    private static let project = Result { try FCMProject.throwaway() }

    private static func gateway(of setup: Setup) throws -> Simulator.Configuration {
        var gateway = Simulator.Configuration()
        gateway.script = try FaultScript(setup.script)
        gateway.http2Manner.streamLimit = setup.window
        gateway.http2Manner.latency = setup.latency
        gateway.requestRules.keys = setup.keys
        (gateway.fcm.manner.streamLimit, gateway.fcm.manner.latency) = (setup.window, setup.latency)
        gateway.fcm.rules.projects = [try project.get().project]
        gateway.fcm.rules.accessTokenLifetime = setup.accessTokenLifetime
        gateway.certificates = try certificates.get()
        gateway.logger = Logger(label: "gateway") { _ in SwiftLogNoOpLogHandler() }
        return gateway
    }

    private func configure() throws {
        let own = ["/etc/apps", "/logs", "/certificates", "/run"].map { home + $0 }
        for path in own + [seenGround + "/staged"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try simulator.certificates.write(into: home + "/certificates")
        let account = try Directory.open(path: home).create(Array("service-account.json".utf8), mode: 0o600)
        try account.write(Self.project.get().serviceAccount)
        for app in setup.apps {
            try FileManager.default.createDirectory(atPath: "\(spool)/\(app)/new", withIntermediateDirectories: true)
            try write("etc/apps/\(app).yaml", appFile(setup.wire(of: app)))
        }
        try write(
            "etc/pushspool.yaml",
            """
            spool: \(ground)/spool
            state: \(home)/state
            node: node-a
            intake: {settle: 50ms, patience: \(setup.patience), rescan: 1s\(setup.intake)}
            feedback: {every: 20ms}
            control: {folder: \(home)/run}
            \(setup.daemon)

            """)
    }

    /// Has the volume show the folder of its app to the daemon, in place of that folder; the test sees what is shown.
    func mountApp() async throws {
        guard let volume, let app = setup.appOnVolume else { return }
        try await volume.run("mount", "--bind", "\(spool)/\(app)", volume.served)
        try await volume.run("mount", "--bind", volume.point, "\(spool)/\(app)")
    }

    private var ports: (binary: Int, http2: Int) {
        island == nil ? (simulator.ports.gateway, simulator.ports.http2) : Island.ports
    }

    private func appFile(_ wire: String) -> String {
        let own =
            switch wire {
            case "fcm":
                """
                credentials: {service_account: \(home)/service-account.json}
                gateway: localhost:\(simulator.ports.fcm)
                token_gateway: localhost:\(simulator.ports.oauth)
                window: \(setup.window)
                """
            case "binary":
                """
                environment: sandbox
                credentials: {certificate: \(home)/certificates/client.pem}
                gateway: localhost:\(ports.binary)
                binary: {window: \(setup.window), confirm_after: \(setup.confirmAfter)}
                """
            default:
                """
                environment: sandbox
                credentials: {certificate: \(home)/certificates/client.pem}
                gateway: localhost:\(ports.http2)
                """
            }
        return """
            protocol: \(wire)
            \(own)
            trust: \(home)/certificates/ca.pem
            connections: \(setup.connections)
            \(setup.app)

            """
    }

    /// Writes a file of the configuration.
    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(home)/\(name)"))
    }

    // MARK: Running

    /// The command that runs the daemon.
    func command(drain: Int = 30) throws -> [String] {
        let command = [try BuiltProgram.path, "run", "--config", home + "/etc/pushspool.yaml", "--drain", "\(drain)"]
        return volume?.inside(command) ?? island?.inside(command) ?? command
    }

    /// Starts the daemon.
    func start(_ environment: [String: String] = [:], drain: Int = 30) throws -> Child {
        try Child(try command(drain: drain), environment: environment, logs: home + "/logs")
    }

    /// Runs the daemon while `body` runs, and makes sure that it has ended then.
    func withDaemon(
        _ environment: [String: String] = [:], drain: Int = 30, _ body: (Child) async throws -> Void
    ) async throws {
        starts.append(try await connectionCount)
        let daemon = try start(environment, drain: drain)
        do {
            try await body(daemon)
        } catch {
            try await daemon.destroy()
            throw error
        }
        try await daemon.destroy()
        daemon.forget()
    }

    /// Lets a daemon finish all there is, and ends it; one that never finishes is ended too: the verdict tells what is
    /// left.
    func finish(within limit: Duration = patience) async throws {
        try await withDaemon { daemon in
            try await daemon.says("app started")
            let deadline = ContinuousClock.now + limit
            while ContinuousClock.now < deadline, try !isIdle() { try await moment(.milliseconds(20)) }
            let code = try await daemon.stop()
            #expect(code == 0, "the end of the last daemon: \(daemon.lastWords)")
            let grave = ["job is held", "journal is damaged"]
            for line in daemon.log.split(separator: "\n") where grave.contains(where: line.contains) {
                report(String(line))
            }
        }
    }

    // MARK: What the gateway saw

    /// All notifications that arrived, in order.
    func entries() async throws -> [Ledger.Entry] {
        if let island { try island.entries() } else { Array(await simulator.ledger.entries) }
    }

    /// How many connections there have been, as far as anything came on them.
    private var connectionCount: Int {
        get async throws {
            guard let island else { return await simulator.ledger.connectionCount }
            return island.isServed ? try island.entries().map(\.connection).max() ?? 0 : 0
        }
    }

    /// Waits until so many notifications have arrived.
    func arrived(_ count: Int) async throws {
        guard island != nil else {
            _ = try await simulator.ledger { $0.arrivedCount >= count }
            return
        }
        try await eventually("\(count) arrived") { try await entries().count >= count }
    }

    // MARK: Dropping

    /// Drops a job: written elsewhere on the volume, then renamed into place; not synced, as most producers do it.
    ///
    /// - Parameters:
    ///   - drop: the job.
    ///   - owner: whom the file is to belong to, if not to us.
    /// - Throws: `SystemError`.
    func drop(_ drop: Drop, owner: UInt32? = nil) throws {
        let app = app(of: drop)
        let (staging, new) = (
            try Directory.open(path: seenGround + "/staged"), try Directory.open(path: "\(spool)/\(app)/new")
        )
        let name = Array(drop.name.utf8)
        try staging.put(name, Array(drop.text(over: setup.wire(of: app)).utf8))
        if let owner { try #require(unsafe chown("\(seenGround)/staged/\(drop.name)", owner, owner) == 0) }
        drops.append(drop)
        try staging.rename(name, to: new, replacing: name)
    }

    /// The app that a job is for: they take turns.
    func app(of drop: Drop) -> String { setup.apps[drop.number % setup.apps.count] }
}

/// How many connections there had been at each start of a daemon.
private final class StartList: Sendable {
    private let list = Mutex<[Int]>([])

    /// All but the first: what was before it is nobody's.
    var all: [Int] { list.withLock { Array($0.dropFirst()) } }

    func append(_ count: Int) {
        list.withLock { $0.append(count) }
    }
}

/// What was dropped in a trial so far.
final class DropList: Sendable {
    private let list = Mutex<[Drop]>([])
    private let releasedNames = Mutex<Set<String>>([])

    var all: [Drop] { list.withLock { $0 } }
    var count: Int { list.withLock { $0.count } }
    /// The jobs that an operator has released from `hold/`: all of such a job is sent again, as he was told.
    var released: Set<String> { releasedNames.withLock { $0 } }

    func append(_ drop: Drop) {
        list.withLock { $0.append(drop) }
    }

    func release(_ name: String) {
        releasedNames.withLock { _ = $0.insert(name) }
    }
}
