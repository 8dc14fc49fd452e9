import Document
import Foundation
import OpenSSL
import PushModel
import Testing

@testable import GatewaySimulator

/// How the simulated token endpoint gives out access tokens.
struct TokenEndpointTests {
    private static let made = Result { try FCMProject.throwaway() }

    /// A request for a token, signed with the key of the account's file.
    private func request(scope: String = "https://www.googleapis.com/auth/firebase.messaging") throws -> SampleRequest {
        let (project, file) = try Self.made.get()
        let key = try #require(
            try JSONSerialization.jsonObject(with: Data(file)) as? [String: String])["private_key", default: ""]
        let now = RequestBench.epochSeconds
        var input: [UInt8] = []
        Base64.url.append(#"{"alg":"RS256","kid":"\#(project.keyID)"}"#.utf8, to: &input)
        input.append(UInt8(ascii: "."))
        Base64.url.append(
            #"{"iss":"\#(project.clientEmail)","aud":"\#(FCMProject.tokenURI)","scope":"\#(scope)","iat":\#(now),"exp":\#(now + 3600)}"#
                .utf8, to: &input)
        let signature = try RS256Signer(pem: Array(key.utf8)).sign(input.span)
        input.append(UInt8(ascii: "."))
        Base64.url.append(signature, to: &input)
        var request = SampleRequest()
        request.fields = [
            (":method", "POST"), (":scheme", "https"), (":authority", "oauth2.googleapis.com"), (":path", "/token"),
            ("content-type", "application/x-www-form-urlencoded"),
        ]
        return request.with(
            body: "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
                + String(decoding: input, as: UTF8.self))
    }

    private func bench(script: String = "") throws -> RequestBench {
        var state = try FCMSample.state(FCMRules())
        var rules = FCMRules()
        rules.projects = [try Self.made.get().project]
        try state.fcm.set(rules)
        state.start(try FaultScript(script))
        return RequestBench(state, serving: TokenEndpoint())
    }

    /// The bodies of the answers with their statuses.
    private func answers(to requests: SampleRequest..., script: String = "") throws -> [String] {
        var bench = try bench(script: script)
        bench.request(requests)
        return bench.answers
    }

    @Test func `a signed assertion gets a token, and FCM takes it`() throws {
        var bench = try bench()
        bench.request(try request(), try request())
        let tokens = bench.answers.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
        #expect(tokens.count == 2 && tokens[0] != tokens[1] && tokens.allSatisfy { $0.utf8.count == 1_024 })
        #expect(bench.answers[0] == #"1 200 {"access_token":"\#(tokens[0])","expires_in":3599,"token_type":"Bearer"}"#)
        #expect(bench.ledger.tokenRequests.map(\.outcome) == [.accepted, .accepted])
        var sending = RequestBench(bench.state, serving: FCMAPI())
        sending.request(tokens.map { FCMSample.message().with("authorization", "Bearer " + $0) })
        #expect(sending.outcomes == [.accepted, .accepted])
    }

    @Test func `a token for another API may not send`() throws {
        var bench = try bench()
        bench.request(try request(scope: "https://www.googleapis.com/auth/drive"))
        let token = try #require(bench.answers[0].split(separator: "\"").dropFirst(3).first)
        var sending = RequestBench(bench.state, serving: FCMAPI())
        sending.request(FCMSample.message().with("authorization", "Bearer \(token)"))
        #expect(sending.outcomes == [.rejected(status: 403, reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT")])
    }

    @Test func `a changed assertion is refused`() throws {
        let request = try request()
        let changed = String(decoding: request.body.dropLast(4), as: UTF8.self) + "AAAA"
        #expect(
            try answers(to: request.with(body: changed)) == [
                #"1 400 {"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#
            ])
    }

    @Test func `another path is a page`() throws {
        #expect(try answers(to: request().with(":path", "/tokens"))[0].hasPrefix("1 404 <!DOCTYPE html>"))
    }

    @Test(arguments: [
        ("port=oauth nth=1 answer status=503", "1 503 <!DOCTYPE html>"),
        ("port=oauth nth=1 answer reason=invalid_grant", #"1 400 {"error":"invalid_grant""#),
        ("nth=1 answer status=503", "1 200 {"), ("every=1 port=fcm answer", "1 200 {"),
    ])
    func `a script acts on it only by its port`(script: String, start: String) throws {
        #expect(try answers(to: request(), script: script)[0].hasPrefix(start))
    }

    @Test func `an account's file can be read back`() throws {
        let (project, file) = try Self.made.get()
        #expect(try FCMProject(serviceAccount: file) == project)
    }
}
