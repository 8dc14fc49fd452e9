import Foundation
import HTTP2
import OpenSSL
import PushModel
import TestSupport
import Testing

@testable import FCMHTTP2

/// The request for an access token, against `Tests/Fixtures/oauth-jwt.json`.
struct AssertionTests {
    private let vector: AssertionVector
    private let request: AccessTokenRequest

    init() throws {
        vector = try AssertionVector.load()
        // The vector's assertion is of the start of this second, ours are dated back.
        request = AccessTokenRequest(
            for: try .vector, at: WallTime(epochSeconds: 1_700_000_000 + AccessTokenRequest.backdating))
    }

    @Test func `the bytes to sign are those of the vector`() {
        #expect(String(decoding: request.signingInput, as: UTF8.self) == vector.signingInput)
    }

    @Test func `the body is the form of the vector`() throws {
        let signature = try #require(vector.signatureBytes)
        #expect(String(decoding: request.body(signature: signature), as: UTF8.self) == vector.form)
    }

    @Test func `the head names the endpoint of the account`() throws {
        let texts = request.head(bodyByteCount: 777).fields.map { field in
            if case .text(let value) = field.value {
                "\(field.name) \(String(decoding: value, as: UTF8.self))"
            } else {
                ""
            }
        }
        #expect(
            texts == [
                ":method POST", ":scheme https", ":authority oauth2.googleapis.com", ":path /token",
                "content-type application/x-www-form-urlencoded", "content-length 777",
            ])
    }

    @Test func `an account whose file names no key has an assertion without kid`() throws {
        let account = ServiceAccount(
            projectID: "p", clientEmail: "a@b", privateKeyID: nil, tokenURI: try TokenURI("https://localhost:8444"))
        let request = AccessTokenRequest(for: account, at: WallTime(epochSeconds: 0))
        #expect(request.signingInput.starts(with: "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.".utf8))
        #expect(request.head(bodyByteCount: 0).fields[2].value == .text("localhost:8444"))
    }
}

extension ServiceAccount {
    /// The account of the vector.
    static var vector: ServiceAccount {
        get throws {
            ServiceAccount(
                projectID: "demo-project", clientEmail: "sender@demo-project.iam.gserviceaccount.com",
                privateKeyID: "0123456789abcdef0123456789abcdef01234567",
                tokenURI: try TokenURI("https://oauth2.googleapis.com/token"))
        }
    }
}

/// An assertion that a known key signed.
private struct AssertionVector: Decodable {
    let signingInput: String
    let signature: String
    let form: String

    static func load() throws -> AssertionVector {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(
            AssertionVector.self, from: Data(contentsOf: tests.appending(path: "Fixtures/oauth-jwt.json")))
    }

    var signatureBytes: [UInt8]? {
        let base64 = signature.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
            .map { [UInt8]($0) }
    }
}
