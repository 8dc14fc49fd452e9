import Foundation
import GatewaySimulator
import OpenSSL
import TestSupport
import Testing

/// Apps whose credentials are at fault: they send nothing and say why, and the others send on.
@Suite struct CredentialTests {
    /// What is wrong, and what the message must name.
    enum Fault: String, CaseIterable {
        case expired, otherKey, wrongPassphrase, otherEnvironment, readableByOthers, missing, noCertificate

        var words: [String] {
            switch self {
            case .expired: ["expired", "2020-"]
            case .otherKey: ["key"]
            case .wrongPassphrase: ["passphrase"]
            case .otherEnvironment: ["environment", "production"]
            case .readableByOthers: ["can be read by group or others", "chmod 600"]
            case .missing: ["nowhere.pem"]
            case .noCertificate: ["certificate"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a fault of the credentials is found by check and stops that app alone`(fault: Fault) async throws {
        try await Bench.running(try .init()) { bench in
            try spoil(bench, by: fault)
            let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(check.code == 78)
            #expect(check.log.contains("bad.yaml") && check.log.contains("hint: "), "\(check.log)")
            for word in fault.words { #expect(check.log.contains(word), "\(check.log)") }
            try await sendsElsewhere(bench)
        }
    }

    /// Shows that the app `bad` sends nothing while `weather` does.
    private func sendsElsewhere(_ bench: Bench) async throws {
        try FileManager.default.createDirectory(
            atPath: bench.path + "/spool/bad/new", withIntermediateDirectories: true)
        try bench.drop("bad.json", job(66), app: "bad")
        try await bench.withDaemon { daemon in
            try await daemon.says("bad.yaml")
            try await daemon.says("app started")
            try bench.drop("good.json", job(1))
            #expect(try await bench.end(of: "good.json").accepted == 1)
            #expect(bench.names(in: "bad/new") == ["bad.json"])
            #expect(await bench.simulator.ledger.arrivedCount == 1)
        }
    }

    private func spoil(_ bench: Bench, by fault: Fault) throws {
        let authority = try CertificateAuthority()
        var plan = CertificatePlan.push(topic: "com.example.weather")
        switch fault {
        case .expired: plan.validity = 1_577_000_000...1_580_000_000
        case .otherEnvironment: plan.isForSandbox = false
        case .otherKey, .wrongPassphrase, .readableByOthers, .missing, .noCertificate: break
        }
        let identity = try authority.issue(plan)
        let certificate = try identity.certificatePEM()
        let key = try identity.keyPEM()
        switch fault {
        case .expired, .otherEnvironment: try bench.use([certificate, key])
        case .readableByOthers: try bench.use([certificate, key], mode: 0o644)
        case .otherKey: try bench.use([certificate, try authority.issue(plan).keyPEM()])
        case .noCertificate: try bench.use([key])
        case .missing: try bench.configureApp("bad", credentials: "credentials: {certificate: nowhere.pem}")
        case .wrongPassphrase:
            let secret = Secret(passphraseFile: Array("right\n".utf8))
            try bench.use([certificate, try identity.keyPEM(encryptedWith: secret)], passphrase: "wrong")
        }
    }

    enum Peer: String, CaseIterable {
        case otherAuthority, otherHost, strangerToGateway
    }

    @Test(arguments: Peer.allCases)
    func `not one byte goes to a gateway that is not what it should be, or that refuses us`(peer: Peer) async throws {
        try await Bench.running(try .init()) { bench in
            let other = try CertificateAuthority(commonName: "Other")
            switch peer {
            case .otherAuthority:
                try bench.write("certificates/trusted.pem", String(decoding: try other.certificatePEM(), as: UTF8.self))
                try bench.configureApp("bad", "trust: \(bench.path)/certificates/trusted.pem")
            case .otherHost:
                try bench.configureApp("bad", "server_name: gateway.push.apple.com")
            case .strangerToGateway:
                let identity = try other.issue(.push(topic: "com.example.weather"))
                try bench.use([try identity.certificatePEM(), try identity.keyPEM()])
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: 2)
                try bench.drop("bad.json", job(66), app: "bad")
                try await daemon.says("connection ended")
                try bench.drop("good.json", job(1))
                #expect(try await bench.end(of: "good.json").accepted == 1)
                #expect(await bench.simulator.ledger.acceptedTokens.map(\.last) == [1])
                let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("connection ended") })
                #expect(line.contains("app=bad") && line.contains("hint="), "\(line)")
                #expect(bench.jobs(in: "failed", app: "bad").isEmpty && bench.jobs(in: "done", app: "bad").isEmpty)
            }
        }
    }

    @Test(arguments: [IssuedIdentity.ContainerKind.modern, .legacy])
    func `a container of either kind is read, and its wrong passphrase is named`(kind: IssuedIdentity.ContainerKind)
        async throws
    {
        let authority = try CertificateAuthority()
        let server = try authority.issue(.server(["localhost"]))
        var setup = try Bench.Setup()
        setup.gateway.certificates = Certificates(
            authority: try authority.certificatePEM(), server: try server.certificatePEM() + server.keyPEM())
        setup.hasApp = false
        let secret = Secret(passphraseFile: Array("right\n".utf8))
        let container = try authority.issue(.push(topic: "com.example.weather")).pkcs12(passphrase: secret, kind: kind)
        try await Bench.running(setup) { bench in
            try bench.keep("push.p12", container)
            try bench.keep("passphrase", Array("wrong\n".utf8))
            let credentials =
                "credentials: {pkcs12: \(bench.path)/etc/push.p12, passphrase_file: \(bench.path)/etc/passphrase}"
            try bench.configureApp("weather", credentials: credentials)
            let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(check.code == 78 && check.log.contains("passphrase"), "\(check.log)")
            try bench.keep("passphrase", Array("right\n".utf8))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("p.json", job(1))
                #expect(try await bench.end(of: "p.json").accepted == 1)
            }
        }
    }

    @Test func `credentials that only the unit gets are no fault to check and doctor, but to a daemon`()
        async throws
    {
        try await Bench.running(try .init()) { bench in
            let credentials = "credentials: {certificate: $CREDENTIALS_DIRECTORY/client.pem}"
            try bench.configureApp("weather", credentials: credentials)
            let run = [try BuiltProgram.path, "run", "--config", "\(bench.path)/etc/pushspool.yaml"]
            let handed = "CREDENTIALS_DIRECTORY=\(bench.path)/certificates"
            let unit = try Program("/usr/bin/env", [handed] + run, logs: bench.path + "/logs")
            try await bench.watching(unit) { unit in
                try await unit.says("app started")
                let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
                #expect(check.code == 0 && check.log.contains("CREDENTIALS_DIRECTORY is not set"), "\(check)")
                let (code, diagnosis) = try await bench.doctor()
                let faults = diagnosis.complaints.filter { $0.severity == "fault" }
                #expect(code == 1 && faults.isEmpty, "\(faults)")
                #expect(diagnosis.complaints.contains { $0.message.contains("CREDENTIALS_DIRECTORY") }, "\(diagnosis)")
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("CREDENTIALS_DIRECTORY is not set")
                #expect(try await daemon.stop() == 0, "\(daemon.log)")
            }
        }
    }

    @Test func `a passphrase comes from the environment, and files from the service manager`() async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue(.push(topic: "com.example.weather"))
        let secret = Secret(passphraseFile: Array("right\n".utf8))
        try await Bench.running(try .init()) { bench in
            let pem = try identity.certificatePEM() + identity.keyPEM(encryptedWith: secret)
            try bench.keep("push.pem", pem, mode: 0o440)
            try bench.keep("word", Array("right\n".utf8), mode: 0o440)
            let place = "certificate: $CREDENTIALS_DIRECTORY/push.pem"
            let handed = "CREDENTIALS_DIRECTORY=\(bench.path)/etc"
            let cases: [(credentials: String, environment: [String], words: String?)] = [
                ("\(place), passphrase_env: PUSH_WORD", [handed, "PUSH_WORD=right"], nil),
                ("\(place), passphrase_file: $CREDENTIALS_DIRECTORY/word", [handed], nil),
                ("\(place), passphrase_env: PUSH_WORD", [handed, "PUSH_WORD=wrong"], "passphrase does not open"),
                ("\(place), passphrase_env: PUSH_WORD", [handed], "the environment variable that it names is not set"),
                (
                    "\(place), passphrase_env: PUSH_WORD", ["PUSH_WORD=right"],
                    "variable CREDENTIALS_DIRECTORY is not set"
                ),
                (
                    "\(place), passphrase_env: A, passphrase_file: b", [handed],
                    "cannot be combined with passphrase_file"
                ),
            ]
            for (credentials, environment, words) in cases {
                try bench.configureApp("weather", credentials: "credentials: {\(credentials)}")
                let check = [try BuiltProgram.path, "check", "--config", "\(bench.path)/etc/pushspool.yaml"]
                let program = try Program("/usr/bin/env", environment + check, logs: bench.path + "/logs")
                // Nothing is known of a file that only the unit has.
                let isGood = words?.contains("CREDENTIALS_DIRECTORY") ?? true
                #expect(try await program.end() == (isGood ? 0 : 78), "\(credentials): \(program.log)")
                #expect(words.map(program.log.contains) ?? true, "\(credentials): \(program.log)")
                #expect(!program.log.contains("right") && !program.text.contains("right"))
            }
        }
    }

    @Test func `check names all faults at once`() async throws {
        try await Bench.running(try .init()) { bench in
            try spoil(bench, by: .expired)
            try bench.configureApp("odd", "bogus: 1\nconnections: 0\nbinary: {windw: 1}")
            try bench.configureApp("lost", credentials: "credentials: {certificate: nowhere.pem}")
            let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(check.code == 78)
            for word in ["expired", "bogus", "connections", "windw", "nowhere.pem"] {
                #expect(check.log.contains(word), "\(word) in \(check.log)")
            }
            #expect(check.text.contains("weather: sandbox at localhost:"))
        }
    }
}

extension Bench {
    /// Puts a file for nobody else into `etc/`.
    fileprivate func keep(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        let file = "\(path)/etc/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    /// Gives the app `bad` these credentials.
    fileprivate func use(_ pem: [[UInt8]], mode: Int = 0o600, passphrase: String? = nil) throws {
        try keep("bad.pem", Array(pem.joined()), mode: mode)
        var words = ["certificate: \(path)/etc/bad.pem"]
        if let passphrase {
            try keep("secret", Array(passphrase.utf8))
            words.append("passphrase_file: \(path)/etc/secret")
        }
        try configureApp("bad", credentials: "credentials: {\(words.joined(separator: ", "))}")
    }
}
