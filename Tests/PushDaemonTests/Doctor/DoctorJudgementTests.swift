import Document
import Foundation
import Gateways
import JobFormat
import LinuxIO
import OpenSSL
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@testable import Configuration
@testable import Doctor
@testable import PushDaemon

/// What the doctor makes of facts that no test can bring about.
@Suite struct DoctorJudgementTests {
    private typealias Severity = DoctorFinding.Severity
    private static let now = WallTime(epochSeconds: 1_800_000_000)

    private func worst(_ findings: [DoctorFinding]) throws -> DoctorFinding {
        try #require(DoctorReport(findings).findings.first)
    }

    @Test func `findings are told by severity, then by what is likely, then as they came`() throws {
        var books = [FindingBook(.daemon), FindingBook(.gateway, of: "b"), FindingBook(.gateway, of: "a")]
        for index in books.indices {
            books[index].ok("well")
            books[index].warn("soon", hint: "watch")
            books[index].fault("now", hint: "mend")
        }
        let report = DoctorReport(books.flatMap(\.findings))
        let order = report.findings.map { finding in
            [finding.severity.rawValue, finding.area.rawValue, finding.app].compactMap(\.self).joined(separator: " ")
        }
        let places = ["gateway b", "gateway a", "daemon"]
        #expect(order == ["fault", "warn", "ok"].flatMap { severity in places.map { "\(severity) \($0)" } })
        #expect(Array(report.lines.prefix(2)) == ["fault gateway b: now", "hint: mend"])
        #expect(report.lines.suffix(2).first == "ok daemon: well" && report.lines.last?.hasSuffix(" ok") == true)
        #expect(report.severity == .fault)
        let json = String(decoding: report.json, as: UTF8.self)
        let head = #"{"v":1,"severity":"fault","findings":[{"severity":"fault","area":"gateway","app":"b","#
        #expect(json.hasPrefix(head), "\(json)")
        #expect(DoctorReport([]).severity == .ok)
    }

    // MARK: The host

    private func host(_ change: (inout HostFacts) -> Void) -> [DoctorFinding] {
        var facts = HostFacts(now: Self.now, clock: .kept(within: .milliseconds(3)))
        (facts.openFiles, facts.watches, facts.watchers) = (65_536, 8192, 128)
        change(&facts)
        return HostJudgement(facts: facts, appCount: 10).findings
    }

    @Test func `a host that is as it should be has nothing to mend`() {
        #expect(host { _ in }.allSatisfy { $0.severity == .ok && $0.hint == nil })
    }

    @Test(
        arguments: [
            (WallTime(epochSeconds: 0), nil, "1970-01-01"), (WallTime(epochSeconds: 1_700_000_000), nil, "2023-11-14"),
            (WallTime(epochSeconds: 6_000_000_000), nil, "2160-02-18"),
            (now, now + .seconds(3600), "was set back"),
        ] as [(WallTime, WallTime?, String)])
    func `a clock that cannot be right is a fault`(time: WallTime, written: WallTime?, words: String) throws {
        let finding = try worst(host { ($0.now, $0.lastWritten) = (time, written) })
        #expect(finding.severity == .fault && finding.area == .clock && finding.message.contains(words), "\(finding)")
    }

    @Test func `a clock that nobody keeps, and one that nobody knows of, are no faults`() throws {
        let finding = try worst(host { $0.clock = .unkept })
        #expect(finding.severity == .warn && finding.hint?.contains("chrony") == true)
        #expect(try worst(host { $0.clock = .unknown }).severity == .ok)
    }

    @Test func `limits that are too low are named with what they should be`() throws {
        let files = try worst(host { $0.openFiles = 306 })
        #expect(files.severity == .fault && files.message.contains("needs 307 with 10 apps"), "\(files)")
        #expect(try worst(host { $0.openFiles = 307 }).severity == .ok)
        let watches = try worst(host { $0.watches = 35 })
        #expect(watches.severity == .warn && watches.hint == "sysctl fs.inotify.max_user_watches=8192")
        #expect(try worst(host { $0.watchers = 1 }).message.contains("max_user_instances"))
        #expect(try worst(host { ($0.openFiles, $0.watches, $0.watchers) = (nil, nil, nil) }).severity == .ok)
    }

    @Test func `the kernel's limits can be read`() throws {
        let facts = HostFacts.look()
        let openFiles = try #require(facts.openFiles)
        #expect(openFiles > 0 && facts.now > HostJudgement.earliest)
    }

    // MARK: The filesystem

    private func volume(_ change: (inout VolumeFacts) -> Void) -> [DoctorFinding] {
        var facts = VolumeFacts(place: "/spool/weather/tmp")
        facts.type = "ext4"
        facts.space = FilesystemSpace(freeByteCount: 1 << 40, byteCount: 1 << 41, freeFileCount: 1_000_000)
        change(&facts)
        return VolumeJudgement(facts: facts, floor: SpaceFloor()).findings
    }

    @Test func `a shared filesystem is a flaw only for a daemon that works alone`() {
        var facts = VolumeFacts(place: "/spool/weather/tmp")
        (facts.type, facts.isShared) = ("nfs", true)
        for isClustered in [false, true] {
            let found = VolumeJudgement(facts: facts, floor: SpaceFloor(), isClustered: isClustered).findings
            #expect(found.contains { $0.message.contains("polled") } == !isClustered)
        }
    }

    /// A fact that is not as it should be, and what is made of it.
    struct Flaw: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let severity: DoctorFinding.Severity
        let change: @Sendable (inout VolumeFacts) -> Void
    }

    static let flaws = [
        Flaw(testDescription: "free of", severity: .fault) {
            $0.space = FilesystemSpace(freeByteCount: 1 << 20, byteCount: 1 << 41, freeFileCount: nil)
        },
        Flaw(testDescription: "room for 999 files", severity: .fault) {
            $0.space = FilesystemSpace(freeByteCount: 1 << 40, byteCount: 1 << 41, freeFileCount: 999)
        },
        Flaw(testDescription: "before it runs out", severity: .warn) {
            $0.space = FilesystemSpace(freeByteCount: 1 << 36, byteCount: 1 << 41, freeFileCount: nil)
        },
        Flaw(testDescription: "is full", severity: .fault) { $0.refusal = .outOfSpace("write") },
        Flaw(testDescription: "is broken", severity: .fault) { $0.refusal = .stale("openat") },
        // EROFS
        Flaw(testDescription: "add the folder to ReadWritePaths=", severity: .fault) {
            $0.refusal = SystemError(code: 30, operation: "openat")
        },
        Flaw(testDescription: "is polled", severity: .warn) { ($0.type, $0.isShared) = ("nfs", true) },
        Flaw(testDescription: "ahead of this host's clock", severity: .warn) { $0.lead = .seconds(90) },
        Flaw(testDescription: "did not report a rename", severity: .warn) { $0.notification = .untold },
        Flaw(testDescription: "max_user_instances", severity: .warn) {
            // EMFILE
            $0.notification = .fault(WatchFault(SystemError(code: 24, operation: "inotify_init1")))
        },
        Flaw(testDescription: "RENAME_NOREPLACE", severity: .warn) { $0.hasNoReplace = false },
        Flaw(testDescription: "does not support hard links", severity: .warn) { $0.hasLinks = false },
        Flaw(testDescription: "no read leases", severity: .warn) { $0.lease = .unavailable },
        Flaw(testDescription: "took 500 ms", severity: .warn) { $0.syncTime = .milliseconds(500) },
    ]

    @Test(arguments: flaws)
    func `what a filesystem lacks is told with the remedy`(flaw: Flaw) throws {
        #expect(try worst(volume { _ in }).severity == .ok)
        let finding = try worst(volume(flaw.change))
        let text = "\(finding.message); \(finding.hint ?? "")"
        #expect(finding.severity == flaw.severity && text.contains(flaw.testDescription), "\(finding)")
    }

    @Test func `a read lease that can be taken is told, where it tells of all writers`() {
        let well = volume { _ in }.filter { $0.message.contains("lease") }
        #expect(well.map(\.message) == ["a read lease can be taken in /spool/weather/tmp"] && well[0].severity == .ok)
        let busy = volume { $0.lease = .writerHasIt }.filter { $0.message.contains("lease") }
        #expect(busy.isEmpty, "\(busy)")
        let shared = volume { $0.isShared = true }.filter { $0.message.contains("lease") }
        #expect(shared.isEmpty, "\(shared)")
    }

    @Test func `a folder is tried without a trace, and a file's way ends where it cannot go on`() throws {
        let place = try TemporaryDirectory()
        let facts = VolumeFacts.look(at: place.path)
        #expect(facts.refusal == nil && facts.space != nil && facts.type != "unknown", "\(facts)")
        #expect(VolumeFacts.look(at: place.path + "/nowhere").refusal?.isNotFound == true)
        let app = try place.directory.makeChild(Array("weather".utf8), mode: 0o755)
        for name in ["tmp", "new", "done"] { _ = try app.makeChild(Array(name.utf8), mode: 0o755) }
        #expect(MoveProbe.look(at: "weather", in: place.path, node: "a").refusal == nil)
        try app.put("failed", "no folder")
        #expect(MoveProbe.look(at: "weather", in: place.path, node: "a").refusal != nil)
        #expect(try place.directory.sortedNames() == ["weather"])
        for name in ["tmp", "new", "done"] { #expect(try app.openChild(Array(name.utf8)).names().isEmpty) }
    }

    // MARK: The gateway

    @Test(
        arguments: [
            ("api.push.apple.com:443", "http2", "for production"),
            ("gateway.sandbox.push.apple.com:2195", "binary", "2021"),
            ("api.sandbox.push.apple.com:443", "http2", nil), ("localhost:8443", "binary", nil),
        ] as [(String, String, String?)])
    func `a gateway of Apple's that is not the app's is named`(
        gateway: String, wire: String, words: String?
    ) throws {
        let folder = try TemporaryDirectory()
        let apps = try folder.directory.makeChild(Array("apps".utf8), mode: 0o755)
        try folder.directory.put("pushspool.yaml", "apps: apps\n")
        try apps.create(Array("key.p8".utf8), mode: 0o600).write(try ThrowawayTokenKey().p8)
        let identity = try CertificateAuthority().issue(.push(topic: "com.example.weather"))
        try apps.create(Array("push.pem".utf8), mode: 0o600).write(identity.certificatePEM() + identity.keyPEM())
        let credentials =
            wire == "binary"
            ? "{certificate: push.pem}" : "{token: {key: key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}"
        try apps.put(
            "weather.yaml",
            """
            protocol: \(wire)
            environment: sandbox
            topic: com.example.weather
            credentials: \(credentials)
            gateway: \(gateway)

            """)
        let path = folder.path + "/pushspool.yaml"
        let set = ConfigurationLoader(path: path).load()
        let findings = ConfigurationJudgement(path: path, set: set, wanted: [], now: .now).findings
        let faults = findings.filter { $0.severity == .fault }
        #expect(faults.isEmpty == (words == nil), "\(findings)")
        if let words { #expect(faults.allSatisfy { $0.message.contains(words) && $0.hint != nil }, "\(faults)") }
    }

    @Test func `one address that does not answer is a warning, all of them are a fault`() throws {
        let gateway = HostPort(host: "gateway.example", port: 2195)
        var facts = GatewayFacts(role: "the gateway", gateway: gateway, proxy: nil, wantsHTTP2: false)
        let addresses = try ["2001:db8::1", "192.0.2.1"].map { try #require(SocketAddress(host: $0, port: 2195)) }
        let refusal = SystemError.timedOut("connect")
        facts.attempts = [
            .init(address: addresses[0], time: .seconds(5), error: refusal),
            .init(address: addresses[1], time: .milliseconds(7), error: nil),
        ]
        let one = try worst(GatewayJudgement(app: "weather", facts: facts).findings)
        #expect(one.severity == .warn && one.message.contains("[2001:db8::1]:2195"), "\(one)")
        facts.attempts[1] = .init(address: addresses[1], time: .seconds(5), error: refusal)
        let all = try worst(GatewayJudgement(app: "weather", facts: facts).findings)
        #expect(all.severity == .fault && all.hint?.contains("firewall pass TCP to gateway.example:2195") == true)
    }

    @Test func `a gateway for which there was no time has not been tried, and is not at fault`() throws {
        let gateway = HostPort(host: "gateway.example", port: 2195)
        var facts = GatewayFacts(role: "the gateway", gateway: gateway, proxy: nil, wantsHTTP2: false)
        (facts.lookup, facts.isCutShort) = (GatewayFacts.Fault(message: "no answer in time", hint: nil), true)
        let findings = GatewayJudgement(app: "weather", facts: facts).findings
        let finding = try worst(findings)
        #expect(findings.count == 1 && finding.severity == .warn, "\(findings)")
        #expect(finding.message == "the gateway gateway.example:2195 was not fully tested: the time limit passed")
        #expect(finding.hint?.contains("--timeout") == true)
    }

    @Test(arguments: [
        (true, GatewayFacts.ClientAuthentication.given, "provider tokens are not tested"),
        (true, .silent, "provider tokens are not tested"), (false, .given, "accepts the app's certificate"),
        (false, .silent, "did not refuse the app's certificate"),
    ])
    func `what a handshake shows of the credentials is told`(
        usesTokens: Bool, consent: GatewayFacts.ClientAuthentication, words: String
    ) throws {
        let gateway = HostPort(host: "localhost", port: 2195)
        var facts = GatewayFacts(role: "the gateway", gateway: gateway, proxy: nil, wantsHTTP2: false)
        let address = try #require(SocketAddress(host: "127.0.0.1", port: 2195))
        facts.attempts = [.init(address: address, time: .zero, error: nil)]
        facts.agreement = .init(
            version: "TLS 1.3", applicationProtocol: nil, server: "x", notAfter: WallTime(epochSeconds: 0), time: .zero)
        (facts.usesTokens, facts.consent) = (usesTokens, consent)
        let last = try #require(GatewayJudgement(app: "weather", facts: facts).findings.last)
        #expect(last.message.contains(words) && last.severity == .ok, "\(last)")
        #expect(last.message.contains("provider tokens") == usesTokens)
    }

    @Test(arguments: [
        (GatewayFacts.Trial.accepted, DoctorFinding.Severity.ok, "accepts the service account"),
        (.postponed(.init(message: "QUOTA_EXCEEDED (status 429)", hint: nil)), .warn, "takes no message now: QUOTA"),
        (.refused(.init(message: "SERVICE_DISABLED (status 403)", hint: "enable it")), .fault, "SERVICE_DISABLED"),
        (.unanswered(.init(message: "the server does not answer", hint: nil)), .fault, "does not answer"),
        (
            .cutShort(.init(message: "no access token", hint: "x")), .warn,
            "the gateway localhost:443 was not fully tested: no access token"
        ),
    ])
    func `what FCM says about a message to nobody is told`(
        trial: GatewayFacts.Trial, severity: DoctorFinding.Severity, words: String
    ) throws {
        let gateway = HostPort(host: "localhost", port: 443)
        var facts = GatewayFacts(role: "the gateway", gateway: gateway, proxy: nil, wantsHTTP2: true)
        let address = try #require(SocketAddress(host: "127.0.0.1", port: 443))
        facts.attempts = [.init(address: address, time: .zero, error: nil)]
        facts.agreement = .init(
            version: "TLS 1.3", applicationProtocol: "h2", server: "x", notAfter: WallTime(epochSeconds: 0), time: .zero
        )
        (facts.usesTokens, facts.consent, facts.trial) = (true, .given, trial)
        let last = try #require(GatewayJudgement(app: "weather", facts: facts).findings.last)
        #expect(last.message.contains(words) && last.severity == severity, "\(last)")
        #expect((last.hint == nil) == (severity == .ok))
    }

    // MARK: The daemon

    @Test(
        arguments: [
            (10, true, Severity.ok, "is running as node host-a"), (10, false, .fault, "ended without a clean shutdown"),
            (90, true, .fault, "has written no status for 90 s"), (90, false, .fault, "shut down uncleanly"),
            (nil, true, .warn, "writes no status"), (nil, false, .fault, "no daemon is running"),
        ] as [(Int?, Bool, DoctorFinding.Severity, String)])
    func `what the daemon says and what it holds together tell whether it lives`(
        age: Int?, isLocked: Bool, severity: DoctorFinding.Severity, words: String
    ) throws {
        var facts = DaemonFacts(node: "host-a", now: Self.now)
        facts.journal = .whole(node: "host-a", byteCount: 64 << 20)
        facts.isLocked = isLocked
        facts.status = age.map { age in
            SpoolStatus(node: "host-a", processID: 7, startedAt: Self.now, writtenAt: Self.now + .seconds(-age))
        }
        let findings = DaemonJudgement(facts: facts, path: "p.yaml", wanted: []).findings
        let finding = try #require(findings.last)
        #expect(finding.severity == severity && finding.message.contains(words), "\(findings)")
    }

    @Test(
        arguments: [
            (DaemonFacts.Control.answered, true, Severity.ok, "control socket answers at /run/x.sock"),
            (.silent, true, .warn, "does not answer at its control socket /run/x.sock"),
            (.unreachable(SystemError.timedOut("connect")), true, .warn, "cannot be reached: connect"),
            (.silent, false, .fault, "ended without a clean shutdown"),
        ] as [(DaemonFacts.Control, Bool, DoctorFinding.Severity, String)])
    func `the control socket is judged where a daemon runs`(
        control: DaemonFacts.Control, isLocked: Bool, severity: DoctorFinding.Severity, words: String
    ) throws {
        var facts = DaemonFacts(node: "host-a", now: Self.now)
        facts.isLocked = isLocked
        facts.status = SpoolStatus(node: "host-a", processID: 7, startedAt: Self.now, writtenAt: Self.now)
        facts.control = ("/run/x.sock", control)
        let findings = DaemonJudgement(facts: facts, path: "p.yaml", wanted: []).findings
        let finding = try #require(findings.last)
        #expect(finding.severity == severity && finding.message.contains(words), "\(findings)")
    }

    @Test func `a filesystem that hangs does not make the doctor hang`() async throws {
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let answers = try await onReactor { reactor in
            let hung: Int? = try await AbandonableWork.run(on: reactor, until: .now + .milliseconds(50)) {
                gate.wait()
                return 1
            }
            let well: Int? = try await AbandonableWork.run(on: reactor, until: .now + .seconds(60)) { 2 }
            return [hung, well]
        }
        #expect(answers == [nil, 2])
    }
}
