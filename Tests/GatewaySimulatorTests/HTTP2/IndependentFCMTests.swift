import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Google's side over loopback TLS, with clients that share no code with this project: openssl signs, curl sends.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Tool.curl.isThere && Tool.openssl.isThere))
struct IndependentFCMTests {
    private static let message = #"{"message":{"token":"cXz1AbCdEfGhIjKlMnOpQr:APA91bH","data":{"a":"1"}}}"#

    /// Runs a simulator that knows one project, and hands out its port's files.
    private func running(
        _ rules: FCMRules = FCMRules(), _ body: (Simulator, GoogleFiles) async throws -> Void
    ) async throws {
        let (project, serviceAccount) = try FCMProject.throwaway()
        var configuration = Simulator.Configuration()
        configuration.fcm.rules = rules
        configuration.fcm.rules.projects = [project]
        try await Simulator.running(configuration) { simulator in
            try await body(simulator, try GoogleFiles(simulator, serviceAccount))
        }
    }

    @Test func `an assertion that openssl signs gets a token, with which curl sends`() async throws {
        try await running { simulator, files in
            let reply = try await files.askForToken()
            let token = try #require(reply.split(separator: "\"").dropFirst(3).first.map(String.init), "\(reply)")
            let answer = try await files.send(Self.message, accessToken: token)
            #expect(
                answer.hasPrefix("{\n  \"name\": \"projects/weather-4711/messages/0:") && answer.hasSuffix("|200 2"))
            let ledger = await simulator.ledger
            #expect(ledger.accepted.map(\.payloadText) == [Self.message])
            #expect(ledger.tokenRequests.count == 1 && ledger.violations.isEmpty)
        }
    }

    @Test func `tokens that have ended are refused`() async throws {
        try await running { simulator, files in
            let reply = try await files.askForToken()
            let token = try #require(reply.split(separator: "\"").dropFirst(3).first.map(String.init), "\(reply)")
            await simulator.expireAccessTokens()
            let answer = try await files.send(Self.message, accessToken: token)
            #expect(answer.contains("\"reason\": \"ACCESS_TOKEN_EXPIRED\"") && answer.hasSuffix("|401 2"))
        }
    }
}

/// The files that programs need to speak to a simulated FCM.
private struct GoogleFiles {
    private let simulator: Simulator
    private let directory: TemporaryDirectory
    private let account: [String: String]

    init(_ simulator: Simulator, _ serviceAccount: [UInt8]) throws {
        self.simulator = simulator
        directory = try TemporaryDirectory()
        account =
            try JSONSerialization.jsonObject(with: Data(serviceAccount)) as? [String: String] ?? [:]
        try Data(simulator.certificates.authority).write(to: url("ca.pem"))
        try Data(account["private_key", default: ""].utf8).write(to: url("key.pem"))
    }

    private func url(_ name: String) -> URL { URL(filePath: directory.path).appending(path: name) }

    /// Has openssl sign an assertion and curl ask for a token with it.
    func askForToken() async throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let header = ["alg": "RS256", "typ": "JWT", "kid": account["private_key_id", default: ""]]
        let claims: [String: Any] = [
            "iss": account["client_email", default: ""], "aud": account["token_uri", default: ""],
            "scope": "https://www.googleapis.com/auth/firebase.messaging", "iat": now, "exp": now + 3600,
        ]
        let input = try [header, claims].map { try base64(JSONSerialization.data(withJSONObject: $0)) }
            .joined(separator: ".")
        try Data(input.utf8).write(to: url("input"))
        let said = try await Tool.openssl.run([
            "dgst", "-sha256", "-sign", url("key.pem").path, "-out", url("signature").path, url("input").path,
        ])
        #expect(said.isEmpty)
        let assertion = try input + "." + base64(Data(contentsOf: url("signature")))
        return try await curl(
            "https://localhost:\(simulator.ports.oauth)/token",
            "--data-urlencode", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "--data-urlencode",
            "assertion=" + assertion)
    }

    /// Has curl send a message, and returns the answer's body, status and version of HTTP.
    func send(_ message: String, accessToken: String) async throws -> String {
        try await curl(
            "https://localhost:\(simulator.ports.fcm)/v1/projects/weather-4711/messages:send", "--data", message,
            "--header", "content-type: application/json", "--header", "authorization: Bearer " + accessToken)
    }

    private func curl(_ arguments: String...) async throws -> String {
        try await Tool.curl.run(
            [
                "--silent", "--show-error", "--http2", "--cacert", url("ca.pem").path, "--write-out",
                "|%{http_code} %{http_version}",
            ] + arguments)
    }

    private func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
