import Document
import Foundation
import JSON
import PushModel
import Testing

@testable import FCMServing

/// How the token endpoint reads assertions.
struct TokenRequestTests {
    private static let audience = "https://oauth2.googleapis.com/token"
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// A form with an assertion that nobody signed.
    private func form(
        _ claims: String, header: String = #"{"alg":"RS256","kid":"k"}"#, grant: String = TokenRequest.grantType
    ) -> [UInt8] {
        var assertion: [UInt8] = []
        for part in [header, claims, "signature"] {
            if !assertion.isEmpty { assertion.append(UInt8(ascii: ".")) }
            Base64.url.append(part.utf8, to: &assertion)
        }
        return Array("grant_type=\(grant.replacing(":", with: "%3A"))&assertion=".utf8) + assertion
    }

    private func read(_ form: [UInt8]) throws(TokenError) -> TokenRequest {
        var parser = JSON.Parser()
        return try TokenRequest(form: form, parser: &parser)
    }

    @Test func `the vector is read, and its signed bytes are found`() throws {
        let vector = try Vector.oauth()
        let request = try read(Array(vector.form.utf8))
        #expect(request.account == "sender@demo-project.iam.gserviceaccount.com")
        #expect(request.keyID == "0123456789abcdef0123456789abcdef01234567")
        #expect(String(decoding: request.signingInput, as: UTF8.self) == vector.signing_input)
        #expect(request.signature.count == 256 && request.coversSending)
        #expect(request.fault(at: WallTime(epochSeconds: 1_700_000_000), audiences: [Self.audience]) == nil)
    }

    @Test(arguments: [
        (#""iat":1000,"exp":4600"#, nil), (#""iat":1060,"exp":2000"#, nil),
        (#""iat":1061,"exp":2000"#, TokenError.badTimes), (#""iat":1000,"exp":4601"#, .badTimes),
        (#""iat":900,"exp":1000"#, .badTimes), (#""iat":"1000","exp":4600"#, .badTimes), (#""exp":4600"#, .badTimes),
    ])
    func `an assertion must be short-lived and of now`(times: String, fault: TokenError?) throws {
        let claims = #"{"iss":"a","aud":"\#(Self.audience)","scope":"\#(Self.scope)",\#(times)}"#
        let now = WallTime(epochSeconds: 1000)
        #expect(try read(form(claims)).fault(at: now, audiences: [Self.audience]) == fault)
    }

    @Test(arguments: [
        (#"{"iss":"a","aud":"https://example.com/token"}"#, "invalid_grant", "Invalid JWT: Failed audience check."),
        (#"{"iss":"a","aud":"AUD","iat":1000,"exp":1100}"#, "invalid_scope", "Empty or missing scope not allowed."),
        (
            #"{"iss":"a","aud":"AUD","iat":1000,"exp":1100,"scope":"messaging"}"#, "invalid_scope",
            "Invalid OAuth scope or ID token audience provided."
        ),
        (
            #"{"iss":"a","sub":"b"}"#, "unauthorized_client",
            "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested."
        ),
    ])
    func `claims at fault have Google's words`(claims: String, code: String, text: String) throws {
        let request = try read(form(claims.replacing("AUD", with: Self.audience)))
        let fault = request.fault(at: WallTime(epochSeconds: 1000), audiences: [Self.audience])
        #expect(fault?.code == code && fault?.text == text)
    }

    @Test(arguments: [
        ("", "invalid_request"), ("grant_type=password&assertion=a.b.c", "unsupported_grant_type"),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_request"),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b", "invalid_grant"),
        ("grant_type=%zz&assertion=a", "invalid_request"),
    ])
    func `a form without an assertion is refused`(form: String, code: String) {
        #expect { try read(Array(form.utf8)) } throws: { ($0 as? TokenError)?.code == code }
    }

    @Test func `an assertion of another algorithm is refused`() {
        #expect(throws: TokenError.badSignature) { try read(form(#"{"iss":"a"}"#, header: #"{"alg":"none"}"#)) }
    }

    @Test func `an access token is known until it expires`() throws {
        var tokens = AccessTokens()
        let now = WallTime(epochSeconds: 1000)
        tokens.insert(
            [1], .init(account: "a", coversSending: true, expiration: WallTime(epochSeconds: 1010)), at: now)
        #expect(try tokens.grant(of: [1], at: now).account == "a")
        #expect(throws: GoogleError.credentialsMissing) { try tokens.grant(of: nil, at: now) }
        #expect(throws: GoogleError.credentialsInvalid) { try tokens.grant(of: [2], at: now) }
        #expect(throws: GoogleError.accessTokenExpired) { try tokens.grant(of: [1], at: now + .seconds(10)) }
    }
}

/// The vector of an assertion, which google-auth made too.
private struct Vector: Decodable {
    let form: String
    let signing_input: String

    static func oauth() throws -> Vector {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try JSONDecoder().decode(
            Vector.self, from: Data(contentsOf: folder.appending(path: "../Fixtures/oauth-jwt.json")))
    }
}
