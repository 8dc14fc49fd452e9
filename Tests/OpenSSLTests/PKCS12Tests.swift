import Testing

@testable import OpenSSL

struct PKCS12Tests {
    private let identity: IssuedIdentity
    private let passphrase = Secret("keychain".utf8)

    init() throws {
        let between = try CertificateAuthority().issueAuthority(commonName: "Between")
        identity = try between.issue(.push(topic: "com.example.weather"))
    }

    @Test(arguments: [IssuedIdentity.ContainerKind.modern, .legacy])
    func `a container opens with its passphrase`(kind: IssuedIdentity.ContainerKind) throws {
        let container = try identity.pkcs12(passphrase: passphrase, kind: kind)
        let loaded = try Credentials.pkcs12(container, passphrase: passphrase)
        #expect(loaded.facts == identity.facts && loaded.chainCount == 1)
    }

    @Test(arguments: [IssuedIdentity.ContainerKind.modern, .legacy])
    func `what was in a container can shake hands`(kind: IssuedIdentity.ContainerKind) throws {
        let cast = try Cast()
        let between = try cast.authority.issueAuthority(commonName: "Between")
        let container = try between.issue(.client("app")).pkcs12(passphrase: passphrase, kind: kind)
        let pair = try EnginePair(
            client: .client(identity: .pkcs12(container, passphrase: passphrase), trust: .pem(cast.trusted)),
            server: .server(identity: cast.gateway, clientAuthority: cast.trusted, requiresClientCertificate: true))
        try pair.shakeHands()
        #expect(pair.server.peerCertificate?.commonName == "app")
    }

    @Test(arguments: [IssuedIdentity.ContainerKind.modern, .legacy])
    func `a container without a passphrase opens with none and with an empty one`(
        kind: IssuedIdentity.ContainerKind
    ) throws {
        let container = try identity.pkcs12(passphrase: Secret([]), kind: kind)
        #expect(try Credentials.pkcs12(container).facts == identity.facts)
        #expect(try Credentials.pkcs12(container, passphrase: Secret([])).facts == identity.facts)
    }

    @Test(arguments: [IssuedIdentity.ContainerKind.modern, .legacy])
    func `a wrong and a missing passphrase are told apart`(kind: IssuedIdentity.ContainerKind) throws {
        let container = try identity.pkcs12(passphrase: passphrase, kind: kind)
        let wrong = tlsError { _ = try Credentials.pkcs12(container, passphrase: Secret("other".utf8)) }
        #expect(wrong?.category == .credentials(.wrongPassphrase))
        let missing = tlsError { _ = try Credentials.pkcs12(container) }
        #expect(missing?.category == .credentials(.passphraseNeeded))
    }

    @Test func `where the legacy provider is missing the user is told what to install`() {
        let error = tlsError { _ = try LegacyLibrary(folder: "/nonexistent") }
        #expect(error?.category == .credentials(.legacyProviderMissing))
        #expect(error?.hint?.contains("openssl-provider-legacy") == true)
    }

    @Test func `PEM in place of a container is told`() throws {
        let text = try identity.certificatePEM()
        let mistake = tlsError { _ = try Credentials.pkcs12(text) }
        #expect(mistake?.category == .credentials(.mistakenFile))
        #expect(mistake?.hint == "name it with `certificate:` instead of `pkcs12:`")
    }

    @Test func `a DER certificate in place of a container is told`() throws {
        let der = try identity.certificateDER()
        #expect(tlsError { _ = try Credentials.pkcs12(der) }?.category == .credentials(.mistakenFile))
    }

    @Test func `a cut container is told`() throws {
        let container = try identity.pkcs12(passphrase: passphrase)
        let cut = tlsError { _ = try Credentials.pkcs12(Array(container.dropLast(40)), passphrase: passphrase) }
        #expect(cut?.category == .credentials(.unreadable) && cut?.hint != nil)
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `a container made by the tool's legacy mode opens`() throws {
        let file = try identity.certificatePEM() + identity.chainPEM() + identity.keyPEM()
        let container = try OpenSSLTool.export(file, ["-legacy", "-passout", "pass:keychain"])
        #expect(try Credentials.pkcs12(container, passphrase: passphrase).facts == identity.facts)
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `a container without a key is told`() throws {
        let file = try identity.certificatePEM()
        let container = try OpenSSLTool.export(file, ["-nokeys", "-passout", "pass:keychain"])
        let error = tlsError { _ = try Credentials.pkcs12(container, passphrase: passphrase) }
        #expect(error?.category == .credentials(.noPrivateKey))
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `a container made without certificates is told`() throws {
        let container = try OpenSSLTool.export(identity.keyPEM(), ["-nocerts", "-passout", "pass:keychain"])
        let error = tlsError { _ = try Credentials.pkcs12(container, passphrase: passphrase) }
        #expect(error?.category == .credentials(.noCertificate))
    }

    private func export(_ options: [String]) throws -> [UInt8] {
        let file = try identity.certificatePEM() + identity.chainPEM() + identity.keyPEM()
        return try OpenSSLTool.export(file, options + ["-passout", "pass:keychain"])
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `a container without a MAC is told, and how to convert it`() throws {
        for options in [["-nomac"], ["-legacy", "-nomac"]] {
            let container = try export(options)
            let mistake = tlsError { _ = try Credentials.pkcs12(container, passphrase: passphrase) }
            #expect(mistake?.message.hasPrefix("the PKCS#12 file has no MAC") == true)
            #expect(mistake?.hint?.contains("openssl pkcs12 -nomacver -noenc -in FILE") == true)
        }
    }

    @Test(
        .enabled(if: OpenSSLTool.exists, "needs the command `openssl`"),
        arguments: ["PBE-SHA1-RC2-40", "PBE-SHA1-RC2-128", "PBE-MD5-DES", "PBE-SHA1-3DES"])
    func `a container with an old algorithm opens, or tells what to do`(algorithm: String) throws {
        let certificates = try export(["-legacy", "-certpbe", algorithm, "-keypbe", "AES-256-CBC"])
        #expect(try Credentials.pkcs12(certificates, passphrase: passphrase).facts == identity.facts)
        let all = try export(["-legacy", "-certpbe", algorithm, "-keypbe", algorithm])
        let mistake = tlsError { _ = try Credentials.pkcs12(all, passphrase: passphrase) }
        guard let mistake else { return }
        #expect(
            mistake.message.hasPrefix("the private key in the PKCS#12 file has an encryption that is not supported"))
        #expect(mistake.hint?.contains("openssl pkcs12 -legacy -noenc -in FILE") == true)
    }
}
