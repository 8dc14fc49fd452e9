import OpenSSL
import Testing

struct HandshakeTests {
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `two engines agree on a version in memory`(version: TLSVersion) throws {
        let pair = try Cast().connectedPair(versions: version...version)
        #expect(pair.client.version == version && pair.server.version == version)
        #expect(pair.client.cipher == pair.server.cipher && pair.client.cipher != nil)
        #expect(version == .tls12 || pair.client.cipher?.hasPrefix("TLS_") == true)
    }

    @Test func `each side sees the other's certificate`() throws {
        let cast = try Cast()
        let pair = try cast.connectedPair()
        #expect(pair.client.peerCertificate == cast.gateway.facts)
        #expect(pair.server.peerCertificate == cast.app.facts)
    }

    @Test func `nothing is known before the handshake`() throws {
        let pair = try Cast().pair()
        #expect(pair.client.version == nil && pair.client.cipher == nil && pair.client.peerCertificate == nil)
        #expect(!pair.client.isEstablished && !pair.client.hasReceivedSessionTicket)
    }

    @Test func `a session ticket is noticed when it is read`() throws {
        let pair = try Cast().connectedPair(versions: .tls13 ... .tls13)
        #expect(!pair.client.hasReceivedSessionTicket)
        #expect(try pair.client.decryptAll().isEmpty)
        #expect(pair.client.hasReceivedSessionTicket)
    }

    @Test func `no session ticket is reported with the older version`() throws {
        let pair = try Cast().connectedPair(versions: .tls12 ... .tls12)
        #expect(try pair.client.decryptAll().isEmpty)
        #expect(!pair.client.hasReceivedSessionTicket)
    }

    @Test func `the server's first common protocol is chosen`() throws {
        let cast = try Cast()
        let pair = try EnginePair(
            client: .client(trust: .pem(cast.trusted), options: TLSOptions(applicationProtocols: ["http/1.1", "h2"])),
            server: .server(identity: cast.gateway, options: TLSOptions(applicationProtocols: ["h2", "http/1.1"])))
        try pair.shakeHands()
        #expect(pair.client.applicationProtocol == "h2" && pair.server.applicationProtocol == "h2")
    }

    @Test func `without a common protocol the client gets the alert for it`() throws {
        let cast = try Cast()
        let pair = try EnginePair(
            client: .client(trust: .pem(cast.trusted), options: TLSOptions(applicationProtocols: ["http/1.1"])),
            server: .server(identity: cast.gateway, options: TLSOptions(applicationProtocols: ["h2"])))
        _ = tlsError { try pair.shakeHands() }
        let error = tlsError { _ = try pair.client.handshake() }
        #expect(error?.category == .alertReceived(.noApplicationProtocol))
    }

    @Test func `without a common version the client is told so`() throws {
        let cast = try Cast()
        let pair = try EnginePair(
            client: .client(trust: .pem(cast.trusted), options: TLSOptions(versions: .tls12 ... .tls12)),
            server: .server(identity: cast.gateway, options: TLSOptions(versions: .tls13 ... .tls13)))
        _ = tlsError { try pair.shakeHands() }
        let error = tlsError { _ = try pair.client.handshake() }
        #expect(error?.category == .alertReceived(.protocolVersion))
        #expect(error?.mayPassOnRetry == true && error?.isOwnCertificateRefused == false)
    }

    @Test(arguments: ["", String(repeating: "x", count: 256)])
    func `an impossible protocol name is refused`(name: String) {
        let error = tlsError { _ = try TLSContext.client(options: TLSOptions(applicationProtocols: [name])) }
        #expect(error?.category == .library)
    }

    @Test(arguments: ["", ".", "gate way", "gateway\0.test", "gäteway.test"])
    func `a server name that is none is refused`(name: String) throws {
        let context = try TLSContext.client()
        let error = tlsError { _ = try TLSEngine(context: context, serverName: name) }
        #expect(error?.hint == "write the name in its `xn--` form")
    }

    @Test func `a peer that does not speak TLS is recognised`() throws {
        let client = try TLSEngine(context: .client(), serverName: "gateway.test")
        _ = try client.handshake()
        client.receive(Array("220 mail.test ESMTP\r\n".utf8).span)
        let error = tlsError { _ = try client.handshake() }
        #expect(error?.category == .handshake)
        #expect(error?.message == "the server does not speak TLS at this port")
    }

    @Test func `a peer that hangs up during the handshake is told from a broken one`() throws {
        let client = try TLSEngine(context: .client(), serverName: "gateway.test")
        _ = try client.handshake()
        client.receiveEnd()
        let error = tlsError { _ = try client.handshake() }
        #expect(error?.category == .closedEarly && error?.mayPassOnRetry == true)
        #expect(error?.message == "the server closed the connection during the handshake")
    }
}
