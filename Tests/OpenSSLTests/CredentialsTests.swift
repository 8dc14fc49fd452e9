import OpenSSL
import Testing

/// Every form of PEM users bring, and what they are told when it is the wrong one.
struct CredentialsTests {
    private let authority: CertificateAuthority
    private let identity: IssuedIdentity
    private let certificate: [UInt8]

    init() throws {
        authority = try CertificateAuthority()
        identity = try authority.issue(.push(topic: "com.example.weather"))
        certificate = try identity.certificatePEM()
    }

    private func error(_ certificate: [UInt8], key: [UInt8]? = nil, passphrase: String? = nil) -> TLSError? {
        tlsError {
            _ = try Credentials.pem(
                certificate: certificate, key: key, passphrase: passphrase.map { Secret($0.utf8) })
        }
    }

    @Test func `certificate and key come in one text, in either order`() throws {
        let key = try identity.keyPEM()
        #expect(try Credentials.pem(certificate: certificate + key).facts == identity.facts)
        #expect(try Credentials.pem(certificate: key + certificate).facts == identity.facts)
    }

    @Test func `the key may be in a text of its own`() throws {
        #expect(try Credentials.pem(certificate: certificate, key: identity.keyPEM()).facts == identity.facts)
    }

    @Test func `text around the blocks and Windows line endings do no harm`() throws {
        let text = String(decoding: try certificate + identity.keyPEM(), as: UTF8.self)
        let file =
            "Bag Attributes\n    friendlyName: Push\n" + text.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
        #expect(try Credentials.pem(certificate: Array(file.utf8)).facts == identity.facts)
    }

    @Test(arguments: [IssuedIdentity.KeyEncoding.pkcs8, .traditional])
    func `an encrypted key opens with its passphrase`(encoding: IssuedIdentity.KeyEncoding) throws {
        let key = try identity.keyPEM(encryptedWith: Secret("correct horse".utf8), as: encoding)
        let passphrase = Secret(passphraseFile: Array("correct horse\n".utf8))
        let loaded = try Credentials.pem(certificate: certificate + key, passphrase: passphrase)
        #expect(loaded.facts == identity.facts)
    }

    @Test(arguments: [IssuedIdentity.KeyEncoding.pkcs8, .traditional])
    func `an encrypted key needs a passphrase`(encoding: IssuedIdentity.KeyEncoding) throws {
        let key = try identity.keyPEM(encryptedWith: Secret("correct horse".utf8), as: encoding)
        let missing = error(certificate, key: key)
        #expect(missing?.category == .credentials(.passphraseNeeded))
        #expect(missing?.message == "the private key is encrypted, but no passphrase is set")
        #expect(missing?.hint?.contains("`passphrase_file:`") == true)
    }

    @Test(
        arguments: [IssuedIdentity.KeyEncoding.pkcs8, .traditional],
        ["wrong horse", "", String(repeating: "x", count: 2_000)])
    func `a wrong passphrase is told`(encoding: IssuedIdentity.KeyEncoding, passphrase: String) throws {
        let key = try identity.keyPEM(encryptedWith: Secret("correct horse".utf8), as: encoding)
        let wrong = error(certificate, key: key, passphrase: passphrase)
        #expect(wrong?.category == .credentials(.wrongPassphrase))
        #expect(wrong?.message == "the passphrase does not open the private key" && wrong?.hint != nil)
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `a key encrypted with single DES opens too`() throws {
        let providers = ["-provider", "default", "-provider", "legacy"]
        let key = try OpenSSLTool.run(
            ["pkcs8", "-topk8", "-v1", "PBE-MD5-DES", "-passout", "pass:old"] + providers, over: identity.keyPEM())
        #expect(String(decoding: key, as: UTF8.self).contains("ENCRYPTED"))
        let loaded = try Credentials.pem(certificate: certificate, key: key, passphrase: Secret("old".utf8))
        #expect(loaded.facts == identity.facts)
        #expect(error(certificate, key: key, passphrase: "new")?.category == .credentials(.wrongPassphrase))
    }

    @Test func `a passphrase that is not needed does no harm`() throws {
        let loaded = try Credentials.pem(certificate: certificate + identity.keyPEM(), passphrase: Secret("x".utf8))
        #expect(loaded.facts == identity.facts)
    }

    @Test func `a key of another certificate is told`() throws {
        let other = try authority.issue(.client("other")).keyPEM()
        let mismatch = error(certificate, key: other)
        #expect(mismatch?.category == .credentials(.keyMismatch))
        #expect(
            mismatch?.message
                == "the private key does not belong to certificate \"Apple Push Services: com.example.weather\"")
        #expect(mismatch?.hint != nil)
    }

    @Test func `a missing key is told`() throws {
        let missing = error(certificate)
        #expect(missing?.category == .credentials(.noPrivateKey))
        #expect(missing?.hint?.contains("`key:`") == true)
    }

    @Test func `a token key in place of a certificate is told`() throws {
        let mistake = error(try identity.keyPEM())
        #expect(mistake?.category == .credentials(.noCertificate))
        #expect(mistake?.hint?.contains(".p8") == true && mistake?.hint?.contains("`token:`") == true)
    }

    @Test func `a signing request in place of a certificate is told`() throws {
        let text = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"
        let mistake = error(Array(text.utf8))
        #expect(mistake?.category == .credentials(.mistakenFile))
        #expect(mistake?.message == "the file is a certificate signing request, not a certificate")
    }

    @Test func `a DER certificate in place of PEM is told`() throws {
        let mistake = error(try identity.certificateDER())
        #expect(mistake?.category == .credentials(.mistakenFile))
        #expect(mistake?.hint?.contains("openssl x509 -inform DER") == true)
    }

    @Test func `a PKCS#12 container in place of PEM is told`() throws {
        let mistake = error(try identity.pkcs12(passphrase: Secret("pass".utf8)))
        #expect(mistake?.category == .credentials(.mistakenFile))
        #expect(mistake?.hint?.contains("`pkcs12:`") == true)
    }

    @Test(arguments: ["", "hello", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
    func `a file without a certificate is told`(text: String) {
        #expect(error(Array(text.utf8))?.category == .credentials(.noCertificate))
    }

    @Test func `a damaged certificate is told`() throws {
        let damaged = certificate.filter { $0 != UInt8(ascii: "M") }
        #expect(error(damaged + (try identity.keyPEM()))?.category == .credentials(.unreadable))
    }

    @Test func `a damaged key is told`() {
        let text = "-----BEGIN PRIVATE KEY-----\nTm8ga2V5IGF0IGFsbA==\n-----END PRIVATE KEY-----\n"
        let damaged = error(certificate, key: Array(text.utf8))
        #expect(damaged?.category == .credentials(.unreadable))
        #expect(damaged?.message.hasPrefix("the private key cannot be read: ") == true)
    }

    @Test func `the chain is put in order and strangers are left out`() throws {
        let between = try authority.issueAuthority(commonName: "Between")
        let leaf = try between.issueAuthority(commonName: "Below").issue(.client("leaf"))
        let stranger = try authority.issue(.client("stranger")).certificatePEM()
        let blocks = try leaf.certificatePEM() + stranger + authority.certificatePEM() + leaf.chainPEM() + leaf.keyPEM()
        let loaded = try Credentials.pem(certificate: blocks)
        #expect(loaded.chainCount == 2 && loaded.facts.commonName == "leaf")
    }

    @Test func `the time of validity is checked on demand`() throws {
        var plan = CertificatePlan.client("app")
        plan.validity = 1_600_000_000...1_700_000_000
        let loaded = try authority.issue(plan).credentials
        try loaded.requireValid(at: 1_600_000_000)
        try loaded.requireValid(at: 1_700_000_000)
        let late = tlsError { try loaded.requireValid(at: 1_700_000_001) }
        #expect(late?.category == .credentials(.expired))
        #expect(late?.message == "certificate \"app\" expired on 2023-11-14" && late?.hint != nil)
        let early = tlsError { try loaded.requireValid(at: 1_599_999_999) }
        #expect(early?.category == .credentials(.notYetValid))
        #expect(early?.message == "certificate \"app\" is not valid before 2020-09-13" && early?.hint != nil)
    }
}
