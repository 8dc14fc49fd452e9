import OpenSSL
import Testing

/// PEM as people paste it, in each place that takes PEM.
struct PastedTextTests {
    /// A way in which a file is changed without being wrong.
    enum Change: CaseIterable {
        case mark, letters, doubleLetters, oneLine, oneLineWithSpaces, indented, carriageReturns, windows, quoted,
            trailing, remark

        func applied(to pem: [UInt8]) -> [UInt8] {
            let text = String(decoding: pem, as: UTF8.self)
            // The line after header fields is empty.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let changed =
                switch self {
                case .mark: "\u{FEFF}" + text
                case .letters: lines.joined(separator: "\\n")
                case .doubleLetters: lines.joined(separator: "\\r\\n") + "\\r\\n"
                case .oneLine: lines.joined()
                case .oneLineWithSpaces: lines.joined(separator: " ")
                case .indented: lines.map { "    " + $0 + "  " }.joined(separator: "\n")
                case .carriageReturns: lines.joined(separator: "\r")
                case .windows: lines.joined(separator: "\r\n")
                case .quoted: "\"" + lines.joined(separator: "\n") + "\""
                case .trailing: lines.map { $0 + " \t" }.joined(separator: "\n")
                case .remark: "# put -----BEGIN PRIVATE KEY----- here\n" + text
                }
            return Array(changed.utf8)
        }
    }

    private let authority: CertificateAuthority
    private let identity: IssuedIdentity

    init() throws {
        authority = try CertificateAuthority()
        identity = try authority.issue(.push(topic: "com.example.weather"))
    }

    @Test(arguments: Change.allCases)
    func `a key for tokens is read`(change: Change) throws {
        let key = try ThrowawayTokenKey()
        #expect(try ES256Signer(p8: change.applied(to: key.p8)).fingerprint == key.signer.fingerprint)
        _ = try ES256Verifier(publicKey: change.applied(to: key.publicKeyPEM))
    }

    @Test(arguments: Change.allCases)
    func `a certificate, its key and trusted authorities are read`(change: Change) throws {
        let both = try identity.certificatePEM() + identity.keyPEM()
        #expect(try Credentials.pem(certificate: change.applied(to: both)).facts == identity.facts)
        let apart = try Credentials.pem(
            certificate: change.applied(to: identity.certificatePEM()), key: change.applied(to: identity.keyPEM()))
        #expect(apart.facts == identity.facts)
        let trusted = change.applied(to: try authority.certificatePEM())
        _ = try TLSContext.client(identity: apart, trust: .pem(trusted), options: TLSOptions())
        #expect(try CertificateFacts.first(inPEM: change.applied(to: identity.certificatePEM())) == identity.facts)
    }

    @Test(
        arguments: [IssuedIdentity.KeyEncoding.pkcs8, .traditional],
        [Change.mark, .indented, .windows, .carriageReturns])
    func `an encrypted key is read`(encoding: IssuedIdentity.KeyEncoding, change: Change) throws {
        let key = try identity.keyPEM(encryptedWith: Secret("correct horse".utf8), as: encoding)
        let loaded = try Credentials.pem(
            certificate: identity.certificatePEM(), key: change.applied(to: key),
            passphrase: Secret("correct horse".utf8))
        #expect(loaded.facts == identity.facts)
    }

    @Test func `the certificate of the key is found among others`() throws {
        let other = try authority.issue(.client("other")).certificatePEM()
        let file = try other + authority.certificatePEM() + identity.certificatePEM() + identity.keyPEM()
        #expect(try Credentials.pem(certificate: file).facts == identity.facts)
    }

    @Test func `several keys in a file are told`() throws {
        let keys = try ThrowawayTokenKey().p8 + ThrowawayTokenKey().p8
        let certificate = try identity.certificatePEM()
        for mistake in [
            tlsError { _ = try ES256Signer(p8: keys) },
            tlsError { _ = try Credentials.pem(certificate: certificate + keys) },
        ] {
            #expect(mistake?.message == "the file holds 2 private keys" && mistake?.hint != nil)
        }
    }

    @Test(arguments: [
        (
            "-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n",
            "the block PRIVATE KEY has no last line, `-----END PRIVATE KEY-----`"
        ),
        (
            "-----BEGIN PRIVATE KEY----\nMIGH\n-----END PRIVATE KEY-----\n",
            "the line with PRIVATE KEY is no first line of a block"
        ),
        ("—–BEGIN PRIVATE KEY—–\nMIGH\n", "the line with PRIVATE KEY is no first line of a block"),
    ])
    func `what is wrong with the lines around a key is told`(text: String, message: String) {
        let mistake = tlsError { _ = try ES256Signer(p8: Array(text.utf8)) }
        #expect(mistake?.message == message && mistake?.hint != nil)
    }

    @Test func `a file in UTF-16 is told`() throws {
        var bytes: [UInt8] = [0xFF, 0xFE]
        for unit in String(decoding: try ThrowawayTokenKey().p8, as: UTF8.self).utf16 {
            bytes += [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
        }
        #expect(tlsError { _ = try ES256Signer(p8: bytes) }?.message == "the file is in UTF-16")
    }

    @Test(arguments: ["pass\r\n", "\u{FEFF}pass\n", "pass\r", "pass"])
    func `a passphrase is the file's text without line end and byte order mark`(content: String) throws {
        let key = try identity.keyPEM(encryptedWith: Secret("pass".utf8), as: .pkcs8)
        let passphrase = Secret(passphraseFile: Array(content.utf8))
        _ = try Credentials.pem(certificate: identity.certificatePEM(), key: key, passphrase: passphrase)
    }
}
