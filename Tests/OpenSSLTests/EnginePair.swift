import OpenSSL

/// Two engines and the wire between them, in memory.
struct EnginePair {
    let client: TLSEngine
    let server: TLSEngine

    init(client: TLSContext, server: TLSContext, serverName: String = "gateway.test") throws {
        self.client = try TLSEngine(context: client, serverName: serverName)
        self.server = try TLSEngine(context: server)
    }

    /// Moves what each side has sealed to the other.
    func exchange() {
        move(from: client, to: server)
        move(from: server, to: client)
    }

    func move(from sender: TLSEngine, to receiver: TLSEngine) {
        var ciphertext: [UInt8] = []
        sender.takeCiphertext(into: &ciphertext)
        receiver.receive(ciphertext.span)
    }

    /// Finishes the handshake on both sides, or throws the first side's error after the alert was moved.
    func shakeHands() throws {
        for _ in 0..<10 {
            let ours = Result { try client.handshake() }
            move(from: client, to: server)
            let theirs = Result { try server.handshake() }
            move(from: server, to: client)
            let states = try [ours.get(), theirs.get()]
            if states == [.complete, .complete] { return }
        }
        throw EndlessHandshake()
    }

    struct EndlessHandshake: Error {}
}

extension TLSEngine {
    /// Opens all that has arrived.
    func decryptAll() throws -> [UInt8] {
        var plaintext: [UInt8] = []
        while case .bytes = try decrypt(into: &plaintext) {}
        return plaintext
    }
}

/// One authority, and what it issued for both sides.
struct Cast {
    let authority: CertificateAuthority
    let trusted: [UInt8]
    let gateway: Credentials
    let app: Credentials

    init() throws {
        authority = try CertificateAuthority()
        trusted = try authority.certificatePEM()
        gateway = try authority.issue(.server(["gateway.test", "127.0.0.1", "::1"])).credentials
        app = try authority.issue(.push(topic: "com.example.weather")).credentials
    }

    /// Both sides trust the authority, and the server wants a certificate.
    func pair(versions: ClosedRange<TLSVersion> = .tls12 ... .tls13) throws -> EnginePair {
        let options = TLSOptions(versions: versions)
        return try EnginePair(
            client: .client(identity: app, trust: .pem(trusted), options: options),
            server: .server(
                identity: gateway, clientAuthority: trusted, requiresClientCertificate: true, options: options))
    }

    func connectedPair(versions: ClosedRange<TLSVersion> = .tls12 ... .tls13) throws -> EnginePair {
        let pair = try pair(versions: versions)
        try pair.shakeHands()
        return pair
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

/// Returns the error that `body` throws, when it is a `TLSError`.
func tlsError(_ body: () throws -> Void) -> TLSError? {
    do {
        try body()
        return nil
    } catch { return error as? TLSError }
}
