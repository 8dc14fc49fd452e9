import LinuxIO
import OpenSSL

/// The certificates of a simulator and of its client, as PEM text.
public struct Certificates: Sendable, Hashable, CustomStringConvertible {
    /// The authority that must have issued a client's certificate. A client also trusts it if it issued the server's
    /// certificate.
    public let authority: [UInt8]
    /// The server's certificate, its intermediate certificates and its private key.
    public let server: [UInt8]
    /// A client's certificate and private key, if known.
    public let client: [UInt8]?

    /// Creates a set of existing certificates.
    public init(authority: [UInt8], server: [UInt8], client: [UInt8]? = nil) {
        self.authority = authority
        self.server = server
        self.client = client
    }

    /// The names and addresses of a server on this host, and those of Google's servers for clients that are told to connect to
    /// this host instead.
    public static let localHosts = [
        "localhost", "127.0.0.1", "::1", "fcm.googleapis.com", "oauth2.googleapis.com",
    ]

    /// Creates an authority and has it certify a server and a client. Valid for 90 days.
    ///
    /// - Parameters:
    ///   - topic: The app that the client may push for.
    ///   - hosts: The names and addresses of the server.
    ///   - usesRSA: Whether the client's key is RSA with 2048 bits instead of EC, because some programs read only RSA keys.
    /// - Returns: All three. The authority's key is discarded, so it can certify nothing else.
    /// - Throws: `SimulatorFault` if a name is invalid or too long.
    public static func throwaway(
        topic: String = "com.example.weather", hosts: [String] = localHosts, usesRSA: Bool = false
    ) throws -> Certificates {
        try SimulatorFault.wrapping {
            let authority = try CertificateAuthority(commonName: "Gateway Simulator")
            let server = try authority.issue(.server(hosts))
            var plan = CertificatePlan.push(topic: topic)
            if usesRSA { plan.key = .rsa2048 }
            let client = try authority.issue(plan)
            return Certificates(
                authority: try authority.certificatePEM(),
                server: try server.certificatePEM() + server.keyPEM(),
                client: try client.certificatePEM() + client.keyPEM())
        }
    }

    /// Writes `ca.pem`, `server.pem` and `client.pem`. The latter two contain the keys, and only their owner may read them.
    ///
    /// Blocks. Creates the directory if only its last component is missing.
    ///
    /// - Throws: `SimulatorFault` if one of the files exists or the directory cannot be written.
    public func write(into directory: String) throws {
        try SimulatorFault.wrapping {
            let place = FilePlace(directory)
            let folder =
                try ["", ".", ".."].contains(place.name)
                ? Directory.open(path: directory)
                : Directory.open(path: place.directory).makeChild(place.nameBytes, mode: 0o700)
            try folder.create(Array("ca.pem".utf8), mode: 0o644).write(authority)
            try folder.create(Array("server.pem".utf8), mode: 0o600).write(server)
            if let client { try folder.create(Array("client.pem".utf8), mode: 0o600).write(client) }
        }
    }

    /// A description of the contents, without the keys.
    public var description: String {
        client == nil
            ? "certificates of an authority and a server" : "certificates of an authority, a server and a client"
    }
}

extension SimulatorFault {
    /// Runs `body` and converts its errors to a form that users of the library can read.
    static func wrapping<Value>(_ body: () throws -> Value) throws(SimulatorFault) -> Value {
        do {
            return try body()
        } catch {
            throw SimulatorFault(cause: error)
        }
    }

    init(cause: any Error) {
        switch cause {
        case let fault as SimulatorFault: self = fault
        case let error as TLSError: self.init(error.message, hint: error.hint)
        case let error as SystemError where error.isAlreadyThere:
            self.init("\(error)", hint: "remove it, or choose another place")
        default: self.init("\(cause)")
        }
    }
}
