import APNSHTTP2
import Foundation
import GatewaySimulator
import Glibc
import JSON
import LinuxIO
import OpenSSL
import TestSupport
import Testing

/// Credentials that are replaced while jobs flow.
@Suite struct HotSwapTests {
    /// How a file is replaced.
    enum Manner: String, CaseIterable {
        case rename, inPlace
    }

    /// An authority, and certificates for the same app with the same names, as renewals are.
    private struct Renewals {
        let setup: Bench.Setup
        let identities: [IssuedIdentity]

        init(count: Int, validity: [ClosedRange<Int64>?] = [], topics: [String] = []) throws {
            let authority = try CertificateAuthority()
            let server = try authority.issue(.server(["localhost"]))
            identities = try (0..<count).map { index in
                var plan = CertificatePlan.push(topic: index < topics.count ? topics[index] : "com.example.weather")
                plan.validity = index < validity.count ? validity[index] : nil
                return try authority.issue(plan)
            }
            var setup = try Bench.Setup()
            setup.hasApp = false
            setup.gateway.certificates = Certificates(
                authority: try authority.certificatePEM(), server: try server.certificatePEM() + server.keyPEM(),
                client: try identities[0].certificatePEM() + identities[0].keyPEM())
            self.setup = setup
        }

        /// The place of a certificate that was shown among them.
        func index(of fingerprint: [UInt8]?) -> Int? {
            identities.firstIndex { $0.facts.fingerprint == fingerprint }
        }

        /// Expects the end of `many.json`, sends one more job, and expects their notifications and those of others, `others` with
        /// that one, each once, and every identity in its turn.
        func finish(_ bench: Bench, _ daemon: Program, many count: Int, others: Int) async throws {
            #expect(try await bench.end(of: "many.json").accepted == count)
            try bench.drop("last.json", job(count))
            #expect(try await bench.end(of: "last.json").accepted == 1)
            // Silence may have settled what the gateway has not read yet.
            let ledger = try await bench.accepted(count + others)
            let tokens = ledger.acceptedTokens
            #expect(Set(tokens).count == count + others && tokens.count == count + others)
            let shown = ledger.connections.map { index(of: $0.fingerprint) ?? -1 }
            #expect(shown.first == 0 && shown.last == identities.count - 1 && shown == shown.sorted(), "\(shown)")
            #expect(ledger.violations.isEmpty && !daemon.log.contains("possible_duplicates"))
            #expect(try await daemon.stop() == 0)
        }
    }

    /// One of the two files that an identity is in when its key has one of its own.
    fileprivate struct Part {
        let name: String
        let bytes: [UInt8]

        /// The key, and the certificate.
        static func of(_ identity: IssuedIdentity) throws -> [Part] {
            [
                Part(name: "client.key", bytes: try identity.keyPEM()),
                Part(name: "client.pem", bytes: try identity.certificatePEM()),
            ]
        }
    }

    @Test(arguments: ["http2", "binary"], Manner.allCases)
    func `a certificate that is replaced under load loses nothing, doubles nothing, and is shown from then on`(
        wire: String, manner: Manner
    ) async throws {
        let renewals = try Renewals(count: 4)
        let count = trials(4000, full: 40_000)
        try await Bench.running(renewals.setup) { bench in
            try bench.configureCertificate(wire, "rate: 1000/s")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("many.json", job(tokens: 0..<count))
                for (round, identity) in renewals.identities.enumerated().dropFirst() {
                    _ = try await bench.accepted(round * count / 8)
                    try await bench.replaceCertificate(by: identity, manner, round, daemon)
                    try await daemon.says("app reconfigured", times: round)
                }
                try await renewals.finish(bench, daemon, many: count, others: 1)
            }
        }
    }

    @Test func `a certificate that gives jobs another topic is warned of`() async throws {
        let renewals = try Renewals(count: 2, topics: ["com.example.weather", "com.example.news"])
        try await Bench.running(renewals.setup) { bench in
            try bench.configureCertificate("http2", "")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await bench.replaceCertificate(by: renewals.identities[1], .rename, 1, daemon)
                try await daemon.says("default topic changed from com.example.weather to com.example.news")
                try await bench.replaceCertificate(by: renewals.identities[0], .rename, 2, daemon)
                try await daemon.says("default topic changed from com.example.news to com.example.weather")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a key that is replaced with its name under load loses nothing, and signs from then on`() async throws {
        let names = ["ABC123DEFG", "NEW123KEYS"]
        let keys = try names.map { try RegisteredKey.throwaway(keyID: $0) }
        let count = trials(4000, full: 40_000)
        try await Modern { $0.keys = keys.map(\.key) }.running { bench in
            for (name, key) in zip(names, keys) { try bench.keep("AuthKey_\(name).p8", key.privateKey) }
            try bench.configureKey(names[0])
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("many.json", job(tokens: 0..<count), app: "modern")
                _ = try await bench.accepted(count / 4)
                try bench.configureKey(names[1])
                try await daemon.says("app reconfigured")
                #expect(try await bench.end(of: "many.json", app: "modern").accepted == count)
                try bench.drop("last.json", job(count), app: "modern")
                #expect(try await bench.end(of: "last.json", app: "modern").accepted == 1)
                let accepted = await bench.simulator.ledger.accepted
                #expect(Set(accepted.map(\.token)).count == count + 1 && accepted.count == count + 1)
                let used = try accepted.map { try names.firstIndex(of: Self.keyID(of: $0)) ?? -1 }
                #expect(used.first == 0 && used.last == 1)
                let byConnection = Dictionary(grouping: zip(accepted, used)) { $0.0.connection }
                #expect(byConnection.values.allSatisfy { Set($0.map(\.1)).count == 1 })
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `another key under the name of the old one loses nothing, and signs from then on`() async throws {
        let keys = try (0..<2).map { _ in try RegisteredKey.throwaway() }
        let (name, count) = (keys[0].key.keyID, trials(4000, full: 40_000))
        try await Modern { $0.keys = [keys[0].key] }.running { bench in
            try bench.keep("AuthKey_\(name).p8", keys[0].privateKey)
            try bench.configureKey(name)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("many.json", job(tokens: 0..<count), app: "modern")
                _ = try await bench.accepted(count / 4)
                // A connection may stay with the token that it has brought; the next one needs the other key's.
                var rules = RequestRules()
                rules.keys = [keys[1].key]
                try await bench.simulator.setRequestRules(rules)
                try bench.replace("AuthKey_\(name).p8", in: "etc", by: keys[1].privateKey)
                try await daemon.says("app reconfigured")
                #expect(try await bench.end(of: "many.json", app: "modern").accepted == count)
                try bench.drop("last.json", job(count), app: "modern")
                #expect(try await bench.end(of: "last.json", app: "modern").accepted == 1)
                let accepted = await bench.simulator.ledger.accepted
                #expect(Set(accepted.map(\.token)).count == count + 1 && accepted.count == count + 1)
                let first = try #require(accepted.first)
                #expect(try Self.isSigned(first, by: keys[0].key))
                let last = try #require(accepted.last)
                #expect(try Self.isSigned(last, by: keys[1].key))
                let byConnection = Dictionary(grouping: accepted) { $0.connection }
                let texts = byConnection.values.map { Set($0.map { $0.request?["authorization"] }) }
                #expect(texts.allSatisfy { $0.count == 1 } && Set(texts).count == 2)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(arguments: ["http2", "binary"])
    func `a certificate and its key are replaced one after the other, and until they fit the old ones are shown`(
        wire: String
    ) async throws {
        let renewals = try Renewals(count: 3)
        let count = trials(4000, full: 40_000)
        try await Bench.running(renewals.setup) { bench in
            for part in try Part.of(renewals.identities[0]) { try bench.replace(part) }
            try bench.configureCertificate(wire, "rate: 1000/s", key: "client.key")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("many.json", job(tokens: 0..<count))
                for (round, identity) in renewals.identities.enumerated().dropFirst() {
                    _ = try await bench.accepted(round * count / 8)
                    // The key comes first in one round, the certificate in the other.
                    let parts = try Part.of(identity)
                    try bench.replace(parts[(round + 1) % 2])
                    try await daemon.says("broken=weather", times: round)
                    try bench.drop("between\(round).json", job(count + round))
                    #expect(try await bench.end(of: "between\(round).json").accepted == 1)
                    let shown = await bench.simulator.ledger.connections.last
                    #expect(renewals.index(of: shown?.fingerprint) == round - 1)
                    try bench.replace(parts[round % 2])
                    try await daemon.says("app reconfigured", times: round)
                }
                try await renewals.finish(bench, daemon, many: count, others: 3)
            }
        }
    }

    @Test func `a broken file leaves the old certificate in force, and is reported once`() async throws {
        let renewals = try Renewals(count: 2)
        try await Bench.running(renewals.setup) { bench in
            try bench.configureCertificate("binary")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let file = bench.path + "/certificates/client.pem"
                try Data("no certificate\n".utf8).write(to: URL(fileURLWithPath: file))
                try await daemon.says("broken=weather")
                for round in 2...3 {
                    daemon.send(SIGHUP)
                    try await daemon.says("broken=weather", times: round)
                }
                try bench.drop("old.json", job(1))
                #expect(try await bench.end(of: "old.json").accepted == 1)
                #expect(daemon.log.components(separatedBy: "error: credentials.certificate").count == 2)
                #expect(!daemon.log.contains("app reconfigured"))
                try await bench.replaceCertificate(by: renewals.identities[1], .rename, 1, daemon)
                try await daemon.says("app reconfigured")
                try bench.drop("new.json", job(2))
                #expect(try await bench.end(of: "new.json").accepted == 1)
                let shown = await bench.simulator.ledger.connections.map { renewals.index(of: $0.fingerprint) }
                #expect(shown == [0, 1])
            }
        }
    }

    @Test(arguments: ["http2", "binary"])
    func `a gateway that calls the certificate expired is reported with the remedy, and a new one goes on`(
        wire: String
    ) async throws {
        let now = Int64(Date().timeIntervalSince1970)
        let day: Int64 = 86_400
        let renewals = try Renewals(count: 2, validity: [now - 10 * day...now - day, now - 10 * day...now + 60 * day])
        try await Bench.running(renewals.setup) { bench in
            try bench.configureCertificate(wire)
            // To the daemon it is good for half a day more.
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.clock, "-129600")
            try await bench.withDaemon(sabotage) { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1))
                try await daemon.says("certificate_expired")
                let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("certificate_expired") })
                #expect(line.contains("renew it, and check this machine's clock"), "\(line)")
                #expect(await bench.simulator.ledger.acceptedCount == 0)
                try await bench.replaceCertificate(by: renewals.identities[1], .rename, 1, daemon)
                #expect(try await bench.end(of: "waits.json").accepted == 1)
            }
        }
    }

    /// The name of the key that signed a request's token.
    private static func keyID(of entry: Ledger.Entry) throws -> String {
        try signedToken(of: entry).token.identity.keyID
    }

    /// Whether a key made the signature of a request's token.
    private static func isSigned(_ entry: Ledger.Entry, by key: RegisteredKey) throws -> Bool {
        let signed = try signedToken(of: entry)
        let input = signed.signingInput
        return try ES256Verifier(publicKey: key.publicKey).accepts(signed.signature, of: input.span)
    }

    private static func signedToken(of entry: Ledger.Entry) throws -> SignedProviderToken {
        let value = try #require(entry.request?["authorization"])
        let text = try #require(ProviderToken.bearer(in: Array(value.utf8)[...]))
        var parser = JSON.Parser()
        let parsed = ProviderToken.parse(text, parser: &parser)
        return try #require(parsed)
    }
}

extension Bench {
    /// Writes the app weather, with the certificate in the folder that the gateway's are in.
    fileprivate func configureCertificate(_ wire: String, _ more: String = "", key: String? = nil) throws {
        let port = wire == "binary" ? simulator.ports.gateway : simulator.ports.http2
        let binary = wire == "binary" ? "binary: {confirm_after: 300ms}" : ""
        let keyFile = key.map { ", key: \(path)/certificates/\($0)" } ?? ""
        let lines = [
            "protocol: \(wire)", "environment: sandbox", "trust: \(path)/certificates/ca.pem",
            "credentials: {certificate: \(path)/certificates/client.pem\(keyFile)}", "gateway: localhost:\(port)",
            binary, more,
        ]
        try write("etc/apps/weather.yaml", lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n")
    }

    /// Replaces the certificate by the one of a round, from 1 on. In place the daemon sees half of it first, and keeps
    /// the old one.
    fileprivate func replaceCertificate(
        by identity: IssuedIdentity, _ manner: HotSwapTests.Manner, _ round: Int, _ daemon: Program
    ) async throws {
        let bytes = try identity.certificatePEM() + identity.keyPEM()
        switch manner {
        case .rename:
            try replace("client.pem", in: "certificates", by: bytes)
        case .inPlace:
            let file = URL(fileURLWithPath: path + "/certificates/client.pem")
            try Data(bytes.prefix(200)).write(to: file)
            try await daemon.says("broken=weather", times: round)
            try Data(bytes).write(to: file)
        }
    }

    fileprivate func replace(_ part: HotSwapTests.Part) throws {
        try replace(part.name, in: "certificates", by: part.bytes)
    }

    /// Puts a file for its owner only in the place of another, or of none, in one step.
    fileprivate func replace(_ name: String, in folder: String, by bytes: [UInt8]) throws {
        let place = try Directory.open(path: "\(path)/\(folder)")
        try place.create(Array("next".utf8), mode: 0o600).write(bytes)
        try place.rename(Array("next".utf8), to: place, replacing: Array(name.utf8))
    }

    fileprivate func keep(_ name: String, _ bytes: [UInt8]) throws {
        let folder = try Directory.open(path: path + "/etc")
        try folder.create(Array(name.utf8), mode: 0o600).write(bytes)
    }

    /// Replaces the file of the app modern in one step by one that names this key.
    fileprivate func configureKey(_ name: String) throws {
        let text = """
            protocol: http2
            environment: sandbox
            topic: com.example.weather
            credentials: {token: {key: \(path)/etc/AuthKey_\(name).p8, key_id: \(name), team_id: DEF123GHIJ}}
            trust: \(path)/certificates/ca.pem
            gateway: localhost:\(simulator.ports.http2)
            rate: 1000/s

            """
        let folder = try Directory.open(path: path + "/etc/apps")
        try folder.put(".next", text)
        try folder.rename(Array(".next".utf8), to: folder, replacing: Array("modern.yaml".utf8))
    }
}
