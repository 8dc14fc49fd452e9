import OpenSSL
import Testing

/// Who is refused, by whom, and in what words.
struct VerificationTests {
    private func clientError(
        _ cast: Cast, identity: Credentials? = nil, trust: [UInt8]? = nil, name: String = "gateway.test"
    ) throws -> TLSError? {
        let pair = try EnginePair(
            client: .client(trust: .pem(trust ?? cast.trusted)), server: .server(identity: identity ?? cast.gateway),
            serverName: name)
        return tlsError { try pair.shakeHands() }
    }

    @Test(arguments: ["gateway.test", "GATEWAY.test", "gateway.test.", "127.0.0.1", "::1"])
    func `a server is accepted under each of its names`(name: String) throws {
        #expect(try clientError(Cast(), name: name) == nil)
    }

    @Test func `a server of another authority is not trusted`() throws {
        let error = try clientError(Cast(), trust: CertificateAuthority(commonName: "Other").certificatePEM())
        #expect(error?.category == .certificateVerification(.untrusted))
        #expect(
            error?.message
                == "certificate \"gateway.test\" of the server, issued by \"Throwaway Authority\", is not from"
                + " a trusted authority")
        #expect(error?.hint?.contains("`trust`") == true && error?.mayPassOnRetry == false)
    }

    @Test(arguments: ["other.test", "sub.gateway.test", "127.0.0.2", "::2"])
    func `a server is refused under another name`(name: String) throws {
        let error = try clientError(Cast(), name: name)
        #expect(error?.category == .certificateVerification(.nameMismatch))
        #expect(
            error?.message
                == "the certificate of the server is for gateway.test, 127.0.0.1, 0:0:0:0:0:0:0:1, not for \(name)")
        #expect(error?.hint?.contains("`server_name`") == true)
    }

    @Test func `a wildcard stands for one label only`() throws {
        let cast = try Cast()
        let wild = try cast.authority.issue(.server(["*.push.test"])).credentials
        #expect(try clientError(cast, identity: wild, name: "a.push.test") == nil)
        #expect(try clientError(cast, identity: wild, name: "a.b.push.test") != nil)
        let partial = try cast.authority.issue(.server(["a*.push.test"])).credentials
        #expect(try clientError(cast, identity: partial, name: "ab.push.test") != nil)
    }

    @Test func `a common name alone names no server`() throws {
        let cast = try Cast()
        var plan = CertificatePlan.server(["127.0.0.1"])
        plan.commonName = "gateway.test"
        let error = try clientError(cast, identity: cast.authority.issue(plan).credentials)
        #expect(error?.category == .certificateVerification(.nameMismatch))
    }

    @Test func `an expired server is refused with the day`() throws {
        let cast = try Cast()
        var plan = CertificatePlan.server(["gateway.test"])
        plan.validity = 1_500_000_000...1_577_836_799
        let error = try clientError(cast, identity: cast.authority.issue(plan).credentials)
        #expect(error?.category == .certificateVerification(.expired))
        #expect(error?.message == "certificate \"gateway.test\" of the server expired on 2019-12-31")
        #expect(error?.hint?.contains("clock") == true)
    }

    @Test func `a server from the future is refused with the day`() throws {
        let cast = try Cast()
        var plan = CertificatePlan.server(["gateway.test"])
        plan.validity = 32_503_680_000...32_535_216_000
        let error = try clientError(cast, identity: cast.authority.issue(plan).credentials)
        #expect(error?.category == .certificateVerification(.notYetValid))
        #expect(error?.message == "certificate \"gateway.test\" of the server is not valid before 3000-01-01")
    }

    @Test func `a client's certificate does not make a server`() throws {
        let cast = try Cast()
        let error = try clientError(cast, identity: cast.app)
        #expect(error?.category == .certificateVerification(.unsuitable))
    }

    @Test func `an intermediate authority is sent along`() throws {
        let cast = try Cast()
        let between = try cast.authority.issueAuthority(commonName: "Between")
        let identity = try between.issue(.server(["gateway.test"]))
        #expect(identity.credentials.chainCount == 1)
        #expect(try clientError(cast, identity: identity.credentials) == nil)
    }

    @Test func `an intermediate authority may be all that is trusted`() throws {
        let cast = try Cast()
        let between = try cast.authority.issueAuthority(commonName: "Between")
        let identity = try between.issue(.server(["gateway.test"])).credentials
        #expect(try clientError(cast, identity: identity, trust: between.certificatePEM()) == nil)
    }

    @Test(arguments: ["", "no PEM here", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
    func `a file of authorities without a certificate is refused`(text: String) {
        let error = tlsError { _ = try TLSContext.client(trust: .pem(Array(text.utf8))) }
        #expect(error?.category == .trust)
        #expect(error?.message == "the file of trusted authorities holds no certificate")
        #expect(error?.hint != nil)
    }

    @Test func `a damaged file of authorities is refused`() throws {
        let whole = try CertificateAuthority().certificatePEM()
        let damaged = whole + whole.filter { $0 != UInt8(ascii: "M") }
        let error = tlsError { _ = try TLSContext.client(trust: .pem(damaged)) }
        #expect(error?.category == .trust && error?.message.hasPrefix("certificate 2 of the file is damaged") == true)
    }

    // MARK: Authorities for some hosts

    @Test func `an authority for a host serves it, also when it was kept in a file`() throws {
        let made = try CertificateAuthority(onlyFor: ["push.test"])
        let kept = CertificateAuthority(try .pem(certificate: made.certificatePEM() + made.keyPEM()))
        let gateway = try kept.issue(.server(["push.test", "a.push.test"])).credentials
        for name in ["push.test", "a.push.test"] {
            #expect(try clientError(Cast(), identity: gateway, trust: made.certificatePEM(), name: name) == nil)
        }
    }

    @Test(arguments: ["other.test", "127.0.0.1", "::1", "test"])
    func `an authority for a host issues nothing for another`(name: String) throws {
        let authority = try CertificateAuthority(commonName: "Narrow", onlyFor: ["push.test"])
        let error = tlsError { _ = try authority.issue(.server(["push.test", name])) }
        #expect(error?.message.hasPrefix("authority \"Narrow\" is not for push.test, ") == true)
    }
}
