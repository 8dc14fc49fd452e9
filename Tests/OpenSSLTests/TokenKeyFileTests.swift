import OpenSSL
import Testing

/// What users are told who name the wrong file as the key for tokens.
struct TokenKeyFileTests {
    private func fault(_ bytes: [UInt8]) -> TLSError? {
        tlsError { _ = try ES256Signer(p8: bytes) }
    }

    private func fault(_ text: String) -> TLSError? { fault(Array(text.utf8)) }

    @Test func `a certificate is told from a key`() throws {
        let identity = try CertificateAuthority().issue(.push(topic: "com.example.app"))
        let mistake = fault(try identity.certificatePEM())
        #expect(mistake?.category == .credentials(.mistakenFile))
        #expect(mistake?.message == "the file is a certificate, not a key for tokens")
        #expect(mistake?.hint?.contains("`certificate:`") == true)
    }

    @Test(arguments: [IssuedIdentity.KeyEncoding.pkcs8, .traditional])
    func `an encrypted key is to be written anew`(encoding: IssuedIdentity.KeyEncoding) throws {
        let identity = try CertificateAuthority().issue(.client("x"))
        let mistake = fault(try identity.keyPEM(encryptedWith: Secret("pass".utf8), as: encoding))
        #expect(mistake?.category == .credentials(.passphraseNeeded))
        #expect(mistake?.message == "the key for tokens is encrypted")
        #expect(mistake?.hint?.contains("openssl pkcs8 -topk8 -nocrypt") == true)
    }

    @Test(
        .enabled(if: OpenSSLTool.exists, "needs the command `openssl`"),
        arguments: [
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "its curve is secp384r1, not P-256"),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], "its curve is secp256k1, not P-256"),
            (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], "its type is RSA, not EC P-256"),
            (["-algorithm", "ED25519"], "its type is ED25519, not EC P-256"),
        ])
    func `a key of another kind is told`(options: [String], words: String) throws {
        let mistake = fault(try OpenSSLTool.makeKey(options))
        #expect(mistake?.category == .credentials(.mistakenFile) && mistake?.hint?.contains(".p8") == true)
        #expect(mistake?.message == "the key cannot sign tokens: \(words)")
    }

    @Test func `a public key is no private one`() throws {
        let mistake = fault(try ThrowawayTokenKey().publicKeyPEM)
        #expect(mistake?.message == "the file holds PUBLIC KEY and no private key")
    }

    @Test(arguments: [
        ("", "the key file is empty"),
        ("hello", "the file is not PEM text: it has no block `-----BEGIN PRIVATE KEY-----`"),
    ])
    func `a file without any key is told`(text: String, message: String) {
        #expect(fault(text)?.message == message && fault(text)?.hint != nil)
    }

    @Test func `a damaged key is told, and nothing of it is`() throws {
        let text = "-----BEGIN PRIVATE KEY-----\nTm8ga2V5IGF0IGFsbA==\n-----END PRIVATE KEY-----\n"
        #expect(fault(text)?.category == .credentials(.unreadable))
        let p8 = try ThrowawayTokenKey().p8
        for cut in stride(from: 28, to: p8.count - 26, by: 7) {
            let mistake = fault(Array(p8[..<cut]))
            #expect(mistake?.category == .credentials(.unreadable), "\(cut)")
        }
    }

    @Test func `a public key of the wrong kind verifies nothing`() throws {
        let certificate = try CertificateAuthority().certificatePEM()
        #expect(tlsError { _ = try ES256Verifier(publicKey: certificate) }?.category == .credentials(.unreadable))
        #expect(tlsError { _ = try ES256Verifier(publicKey: [1, 2, 3]) }?.category == .credentials(.unreadable))
        #expect(tlsError { _ = try ES256Verifier(publicKey: []) }?.category == .credentials(.unreadable))
    }
}
