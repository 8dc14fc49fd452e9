import OpenSSL
import Testing

/// No bytes from a peer or a file may trap.
struct RobustnessTests {
    @Test func `a changed record is a violation and is never yielded`() throws {
        let cast = try Cast()
        for seed in UInt64(0)..<60 {
            var random = Seeded(seed: seed)
            let pair = try cast.connectedPair()
            try pair.client.encrypt(random.bytes(300).span)
            var ciphertext: [UInt8] = []
            pair.client.takeCiphertext(into: &ciphertext)
            ciphertext[Int.random(in: 5..<ciphertext.count, using: &random)] ^=
                1 << UInt8.random(in: 0...7, using: &random)
            pair.server.receive(ciphertext.span)
            let error = tlsError { _ = try pair.server.decryptAll() }
            #expect(error?.category == .protocolViolation, "seed \(seed)")
        }
    }

    @Test func `garbage in place of a handshake throws`() throws {
        let cast = try Cast()
        let (client, server) = try (
            TLSContext.client(trust: .pem(cast.trusted)), TLSContext.server(identity: cast.gateway)
        )
        for seed in UInt64(0)..<300 {
            var random = Seeded(seed: seed)
            let engine =
                try seed % 2 == 0
                ? TLSEngine(context: client, serverName: "gateway.test") : TLSEngine(context: server)
            _ = try engine.handshake()
            var garbage = random.bytes(Int.random(in: 0...600, using: &random))
            if seed % 3 == 0 { garbage = [0x16, 0x03, 0x03, 0x00, 0x40] + garbage }
            engine.receive(garbage.span)
            engine.receiveEnd()
            #expect(tlsError { _ = try engine.handshake() } != nil, "seed \(seed)")
        }
    }

    @Test func `a changed handshake never completes on both sides with other settings`() throws {
        let cast = try Cast()
        for seed in UInt64(0)..<150 {
            var random = Seeded(seed: seed)
            let pair = try cast.pair()
            _ = try pair.client.handshake()
            var hello: [UInt8] = []
            pair.client.takeCiphertext(into: &hello)
            hello[Int.random(in: 5..<hello.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            pair.server.receive(hello.span)
            _ = tlsError { _ = try pair.server.handshake() }
            pair.move(from: pair.server, to: pair.client)
            pair.client.receiveEnd()
            let isComplete = (try? pair.client.handshake()) == .complete
            #expect(!isComplete, "seed \(seed)")
        }
    }

    @Test func `no file of credentials traps`() throws {
        let identity = try Cast().authority.issue(.push(topic: "com.example.weather"))
        let files = try [
            identity.certificatePEM() + identity.keyPEM(), identity.pkcs12(passphrase: Secret("pass".utf8)),
            identity.certificateDER(),
        ]
        for seed in UInt64(0)..<300 {
            var random = Seeded(seed: seed)
            var file = files[Int(seed % 3)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                file[Int.random(in: 0..<file.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if seed % 5 == 0 { file.removeLast(Int.random(in: 0...file.count, using: &random)) }
            _ = tlsError { _ = try Credentials.pem(certificate: file) }
            _ = tlsError { _ = try Credentials.pkcs12(file, passphrase: Secret("pass".utf8)) }
        }
    }
}
