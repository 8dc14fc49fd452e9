import Foundation
import OpenSSL
import Testing

/// Signatures of a service account's assertions, with a vector and the command `openssl` as judges.
struct RS256Tests {
    /// One key for all tests: creating an RSA key is slow.
    private static let key = Result { try ThrowawayRSAKey() }

    private let key: ThrowawayRSAKey
    private let message = Array("eyJhbGciOiJSUzI1NiJ9.e30".utf8)

    init() throws {
        key = try Self.key.get()
    }

    @Test func `the signature of the vector is accepted`() throws {
        let vector = try AssertionVector.load()
        let verifier = try RS256Verifier(publicKey: Array(vector.publicKey.utf8))
        let signature = try #require(vector.signatureBytes)
        #expect(verifier.accepts(signature, over: Array(vector.signingInput.utf8)))
    }

    @Test func `a key read from its text makes signatures of that key, always the same`() throws {
        let signer = try RS256Signer(pem: key.privateKeyPEM)
        let signature = try signer.sign(message.span)
        #expect(signature.count == 256 && signer.fingerprint.count == 32)
        #expect(try signature == signer.sign(message.span))
        #expect(try signer.verifier().accepts(signature, over: message))
        #expect(try RS256Verifier(publicKey: key.publicKeyPEM).accepts(signature, over: message))
    }

    @Test func `what was changed is not accepted`() throws {
        let signer = try RS256Signer(pem: key.privateKeyPEM)
        let verifier = try signer.verifier()
        let signature = try signer.sign(message.span)
        #expect(!verifier.accepts(signature, over: message + [0]))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!verifier.accepts(changed, over: message), "byte \(index)")
        }
        for count in [0, 1, 64, 255, 257, 1024] {
            #expect(!verifier.accepts([UInt8](repeating: 7, count: count), over: message), "\(count) bytes")
        }
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `another program accepts our signatures`() throws {
        let signature = try RS256Signer(pem: key.privateKeyPEM).sign(message.span)
        #expect(try OpenSSLTool.verifies(signature, of: message, with: key.publicKeyPEM))
    }

    @Test(
        .enabled(if: OpenSSLTool.exists, "needs the command `openssl`"),
        arguments: [
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "its type is EC, not RSA"),
            (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], "it has 1024 bits, not 2048 to 8192"),
            (["-algorithm", "ED25519"], "its type is ED25519, not RSA"),
        ])
    func `a key of another kind is told`(options: [String], words: String) throws {
        let pem = try OpenSSLTool.makeKey(options)
        let mistake = tlsError { _ = try RS256Signer(pem: pem) }
        #expect(mistake?.category == .credentials(.mistakenFile) && mistake?.hint?.contains("Firebase console") == true)
        #expect(mistake?.message == "the key cannot sign tokens: \(words)")
    }

    @Test(arguments: [
        ("", "`private_key` is empty"),
        ("REDACTED", "`private_key` is not PEM text: it has no block `-----BEGIN PRIVATE KEY-----`"),
        (
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            "`private_key` holds PUBLIC KEY and no private key"
        ),
    ])
    func `text without a private key is told`(text: String, message: String) {
        let mistake = tlsError { _ = try RS256Signer(pem: Array(text.utf8)) }
        #expect(mistake?.message == message && mistake?.hint != nil)
    }

    @Test func `a signer tells nothing of its key`() throws {
        let signer = try RS256Signer(pem: key.privateKeyPEM)
        var dumped = ""
        dump(signer, to: &dumped)
        #expect("\(signer)".wholeMatch(of: /RSA key [0-9a-f]{8}…/) != nil)
        #expect(!dumped.contains("pointer") && !dumped.contains("key:"))
    }
}

extension RS256Verifier {
    /// The expectation macros take no spans.
    fileprivate func accepts(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        accepts(signature, of: message.span)
    }
}

/// An assertion that a known key signed. The private key is not kept.
private struct AssertionVector: Decodable {
    let publicKey: String
    let signingInput: String
    let signature: String

    static func load() throws -> AssertionVector {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(
            AssertionVector.self, from: Data(contentsOf: fixtures.appending(path: "oauth-jwt.json")))
    }

    var signatureBytes: [UInt8]? {
        let base64 = signature.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)).map {
            [UInt8]($0)
        }
    }
}
