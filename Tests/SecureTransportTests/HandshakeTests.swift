import LinuxIO
import OpenSSL
import SecureTransport
import TestSupport
import Testing

struct HandshakeTests {
    @Test func `a ticket confirms that the server took the certificate`() async throws {
        let result = try await Wire(asksForCertificate: true).run { stream in
            try await stream.handshake(until: .soon)
            _ = try await stream.receive()
        } use: { stream in
            try await stream.handshake(until: .soon)
            let isConfirmed = try await stream.awaitConfirmation(until: .soon)
            _ = await stream.shutdown(until: .now)
            return isConfirmed && stream.hasReceivedSessionTicket
        }
        #expect(result.used)
    }

    @Test func `bytes that come before the confirmation are kept`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            try await stream.send([1, 2, 3])
            _ = try await stream.receive()
        } use: { stream in
            try await stream.handshake(until: .soon)
            _ = try await stream.awaitConfirmation(until: .soon)
            let bytes = try await stream.receive(upTo: 3).bytes
            _ = await stream.shutdown(until: .now)
            return bytes
        }
        #expect(result.used == [1, 2, 3])
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a server that misses the client's certificate is heard before the first frame`(
        version: TLSVersion
    ) async throws {
        let options = TLSOptions(versions: version...version)
        let wire = try Wire(asksForCertificate: true, showsCertificate: false, options: options)
        let result = try await wire.run { stream in
            await thrownError(TLSError.self) { try await stream.handshake(until: .soon) }
        } use: { stream in
            await thrownError(TLSError.self) {
                try await stream.handshake(until: .soon)
                _ = try await stream.awaitConfirmation(until: .soon)
            }
        }
        #expect(result.used?.isOwnCertificateRefused == true)
        #expect(result.served != nil)
    }

    @Test func `a certificate for another name is refused, and the server hears it`() async throws {
        let wire = try Wire()
        let result = try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            let client = try SecureStream(connecting: pair.one, context: wire.client, serverName: "example.com")
            let server = try SecureStream(accepting: pair.other, context: wire.server)
            // The client's greeting and the server's answer fit into the sockets' buffers: one side at a time will do.
            _ = await thrownError(SystemError.self) { try await client.handshake(until: .now + .milliseconds(20)) }
            _ = await thrownError(SystemError.self) { try await server.handshake(until: .now + .milliseconds(20)) }
            let refusal = await thrownError(TLSError.self) { try await client.handshake(until: .soon) }
            let alert = await thrownError(TLSError.self) { try await server.handshake(until: .soon) }
            return (refusal, alert)
        }
        #expect(result.0?.category == .certificateVerification(.nameMismatch))
        #expect(result.1 != nil)
    }

    @Test func `a peer that says nothing is given up at the deadline`() async throws {
        let wire = try Wire()
        let error = try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            let stream = try SecureStream(connecting: pair.one, context: wire.client, serverName: "localhost")
            return await thrownError(SystemError.self) { try await stream.handshake(until: .now + .milliseconds(20)) }
        }
        #expect(error?.isTimeOut == true)
    }

    @Test func `a peer that speaks no TLS is told from a silent one`() async throws {
        let wire = try Wire()
        let error = try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            try await pair.other.writeAll(Array("220 mail.example ESMTP\r\n".utf8))
            let stream = try SecureStream(connecting: pair.one, context: wire.client, serverName: "localhost")
            return await thrownError(TLSError.self) { try await stream.handshake(until: .soon) }
        }
        #expect(error != nil)
    }

    @Test func `a peer that hangs up during the handshake is an error`() async throws {
        let wire = try Wire()
        let error = try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            pair.other.shutdownWrite()
            let stream = try SecureStream(connecting: pair.one, context: wire.client, serverName: "localhost")
            return await thrownError(TLSError.self) { try await stream.handshake(until: .soon) }
        }
        #expect(error != nil)
    }

    @Test func `connecting to an endpoint does it all`() async throws {
        let wire = try Wire()
        let isConfirmed = try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            let host = HostPort(host: "127.0.0.1", port: listener.address.port)
            let endpoint = SecureEndpoint(host: host, serverName: "localhost", context: wire.client)
            async let confirmed = ReactorHost(reactor).run { reactor in
                let stream = try await SecureStream.connect(to: endpoint, on: reactor, until: .soon)
                return try await stream.awaitConfirmation(until: .soon)
            }
            let socket = try #require(try await listener.accept(until: .soon))
            let server = try SecureStream(accepting: socket, context: wire.server)
            try await server.handshake(until: .soon)
            return try await confirmed
        }
        #expect(isConfirmed)
    }
}
