import APNSHTTP2
import Foundation
import GatewaySimulator
import OpenSSL
import TestSupport
import Testing

/// Clients that share no code with this project, over loopback TLS.
@Suite(.timeLimit(.minutes(10)))
struct IndependentHTTP2Tests {
    private static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    private func path(_ token: String) -> String { "/3/device/" + String(repeating: token, count: 32) }

    /// What curl says: status, version of HTTP, and the body.
    private func curl(
        _ simulator: Simulator, _ files: CertificateFiles, _ arguments: String..., token: String = "ab"
    ) async throws -> String {
        try await Tool.curl.run(
            [
                "--silent", "--show-error", "--http2", "--cacert", files.authority, "--data-binary",
                "@" + files.payload, "--write-out", "|%{http_code} %{http_version}", "--header",
                "apns-push-type: alert",
                "--header", "apns-topic: com.example.weather", "--header", "apns-id: " + Self.id,
            ] + arguments + ["https://localhost:\(simulator.ports.http2)" + path(token)])
    }

    @Test(.enabled(if: Tool.curl.isThere, "\(Tool.curl)"))
    func `curl with a certificate is answered over HTTP/2`() async throws {
        try await Simulator.running { simulator in
            let files = try CertificateFiles(simulator)
            #expect(try await curl(simulator, files, "--cert", files.client) == "|200 2")
            let ledger = await simulator.ledger
            #expect(ledger.violations.isEmpty)
            let entry = try #require(ledger.accepted.first)
            #expect(entry.payloadText == "{\"aps\":{\"alert\":\"Hello\"}}" && entry.request?.id == Self.id)
            #expect(entry.request?["user-agent"]?.hasPrefix("curl/") == true)
        }
    }

    @Test(.enabled(if: Tool.curl.isThere, "\(Tool.curl)"))
    func `curl without a certificate is told to show a token`() async throws {
        try await Simulator.running { simulator in
            let files = try CertificateFiles(simulator)
            #expect(try await curl(simulator, files) == "{\"reason\":\"MissingProviderToken\"}|403 2")
        }
    }

    @Test(.enabled(if: Tool.curl.isThere, "\(Tool.curl)"))
    func `curl with a provider token is answered`() async throws {
        let (key, privateKey) = try RegisteredKey.throwaway()
        var configuration = Simulator.Configuration()
        configuration.requestRules.keys = [key]
        try await Simulator.running(configuration) { simulator in
            let files = try CertificateFiles(simulator)
            let token = try SampleToken.make(with: privateKey, at: Int64(Date().timeIntervalSince1970))
            #expect(try await curl(simulator, files, "--header", "authorization: bearer " + token) == "|200 2")
        }
    }

    @Test(.enabled(if: Tool.curl.isThere, "\(Tool.curl)"))
    func `a client that offers something else in the handshake is turned away`() async throws {
        try await Simulator.running { simulator in
            let files = try CertificateFiles(simulator)
            let output = try await curl(simulator, files, "--cert", files.client, "--http1.1")
            #expect(output.hasSuffix("|000 0") && output.contains("alert no application protocol"))
        }
    }

    @Test(.enabled(if: Tool.nghttp.isThere, "\(Tool.nghttp)"))
    func `nghttp is told why and since when`() async throws {
        var configuration = Simulator.Configuration()
        configuration.requestRules.unregistered = [[UInt8](repeating: 0xAB, count: 32): 1_700_000_000_123]
        try await Simulator.running(configuration) { simulator in
            let files = try CertificateFiles(simulator)
            let output = try await Tool.nghttp.run([
                "--verbose", "--no-verify-peer", "--cert=" + files.client, "--key=" + files.client,
                "--data=" + files.payload, "--header=apns-topic: com.example.weather",
                "https://localhost:\(simulator.ports.http2)" + path("ab"),
            ])
            #expect(output.contains(":status: 410"))
            #expect(output.contains("{\"reason\":\"Unregistered\",\"timestamp\":1700000000123}"))
            #expect(await simulator.ledger.violations.isEmpty)
        }
    }

    @Test(.enabled(if: Tool.h2load.isThere, "\(Tool.h2load)"))
    func `h2load's thousands of requests are all accepted`() async throws {
        let (key, privateKey) = try RegisteredKey.throwaway()
        var configuration = Simulator.Configuration()
        configuration.requestRules.keys = [key]
        configuration.detail = .counts
        // It opens its streams before it has heard how many it may.
        configuration.http2Manner.streamLimitBeforeToken = nil
        try await Simulator.running(configuration) { simulator in
            let files = try CertificateFiles(simulator)
            let token = try SampleToken.make(with: privateKey, at: Int64(Date().timeIntervalSince1970))
            let output = try await Tool.h2load.run([
                "--requests=5000", "--clients=2", "--max-concurrent-streams=100", "--data=" + files.payload,
                "--header=apns-topic: com.example.weather", "--header=authorization: bearer " + token,
                "https://localhost:\(simulator.ports.http2)" + path("ab"),
            ])
            #expect(output.contains("5000 succeeded, 0 failed"), "\(output)")
            let ledger = await simulator.ledger
            #expect(ledger.acceptedCount == 5000 && ledger.violations.isEmpty)
        }
    }
}

/// Provider tokens for tests.
enum SampleToken {
    /// A token signed with a key of Apple's form.
    static func make(
        with privateKey: [UInt8], at seconds: Int64, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ"
    ) throws -> String {
        let identity = try #require(ProviderIdentity(keyID: keyID, teamID: teamID))
        let input = ProviderToken.signingInput(identity: identity, issuedAt: seconds)
        let signature = try ES256Signer(p8: privateKey).sign(input.span)
        return ProviderToken(identity: identity, issuedAt: seconds, signature: signature).text
    }
}
