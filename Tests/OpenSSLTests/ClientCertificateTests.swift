import OpenSSL
import Testing

/// How a server's refusal of a client's certificate reaches both sides.
struct ClientCertificateTests {
    struct Refusal {
        let server: TLSError?
        let client: TLSError?
    }

    /// Runs a handshake the server must refuse, and reads what the client then finds.
    private func refuse(_ identity: Credentials?, _ cast: Cast, _ version: TLSVersion) throws -> Refusal {
        let options = TLSOptions(versions: version...version)
        let pair = try EnginePair(
            client: .client(identity: identity, trust: .pem(cast.trusted), options: options),
            server: .server(
                identity: cast.gateway, clientAuthority: cast.trusted, requiresClientCertificate: true,
                options: options))
        let server = tlsError { try pair.shakeHands() }
        let client = tlsError {
            _ = try pair.client.handshake()
            _ = try pair.client.decryptAll()
        }
        return Refusal(server: server, client: client)
    }

    @Test(arguments: [(TLSVersion.tls12, TLSAlert.handshakeFailure), (.tls13, .certificateRequired)])
    func `a client without a certificate is told`(version: TLSVersion, alert: TLSAlert) throws {
        let refusal = try refuse(nil, Cast(), version)
        #expect(refusal.server?.category == .certificateVerification(.missing))
        #expect(refusal.client?.category == .alertReceived(alert))
        #expect(refusal.client?.isOwnCertificateRefused == true && refusal.client?.mayPassOnRetry == false)
        #expect(refusal.client?.hint?.contains("configure") == true)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a client of an unknown authority is told`(version: TLSVersion) throws {
        let stranger = try CertificateAuthority(commonName: "Strangers").issue(.client("stranger")).credentials
        let refusal = try refuse(stranger, Cast(), version)
        #expect(refusal.server?.category == .certificateVerification(.untrusted))
        #expect(refusal.client?.category == .alertReceived(.unknownAuthority))
        #expect(refusal.client?.message.hasSuffix("alert unknown_ca (48)") == true)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a client with an expired certificate is told`(version: TLSVersion) throws {
        let cast = try Cast()
        var plan = CertificatePlan.client("late")
        plan.validity = 1_500_000_000...1_577_836_799
        let refusal = try refuse(cast.authority.issue(plan).credentials, cast, version)
        #expect(refusal.server?.message == "certificate \"late\" of the client expired on 2019-12-31")
        #expect(refusal.client?.category == .alertReceived(.certificateExpired))
    }

    @Test func `a refused client of the newer version sees no ticket`() throws {
        let cast = try Cast()
        let pair = try EnginePair(
            client: .client(trust: .pem(cast.trusted)),
            server: .server(identity: cast.gateway, clientAuthority: cast.trusted, requiresClientCertificate: true))
        _ = tlsError { try pair.shakeHands() }
        #expect(try pair.client.handshake() == .complete)
        #expect(throws: TLSError.self) { try pair.client.decryptAll() }
        #expect(!pair.client.hasReceivedSessionTicket)
    }

    @Test func `a server may take a client without a certificate`() throws {
        let cast = try Cast()
        let pair = try EnginePair(
            client: .client(trust: .pem(cast.trusted)),
            server: .server(identity: cast.gateway, clientAuthority: cast.trusted))
        try pair.shakeHands()
        #expect(pair.server.peerCertificate == nil)
    }

    @Test func `a server without an authority takes any certificate`() throws {
        let cast = try Cast()
        let stranger = try CertificateAuthority(commonName: "Strangers").issue(.client("stranger")).credentials
        let pair = try EnginePair(
            client: .client(identity: stranger, trust: .pem(cast.trusted)),
            server: .server(identity: cast.gateway, requiresClientCertificate: true))
        try pair.shakeHands()
        #expect(pair.server.peerCertificate?.commonName == "stranger")
    }

    @Test func `every alert has its name`() {
        #expect(TLSAlert(rawValue: 46).description == "certificate_unknown")
        #expect(TLSAlert(rawValue: 199).description == "alert 199")
    }
}
