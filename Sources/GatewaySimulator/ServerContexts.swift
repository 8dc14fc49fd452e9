import OpenSSL

/// The TLS contexts of the simulator's ports.
struct ServerContexts: Sendable {
    /// The usual context, and one without a session ticket, so that a TLS 1.3 client receives nothing after its handshake.
    private struct Pair: Sendable {
        let usual: TLSContext
        let withoutTicket: TLSContext
    }

    private let binary: Pair
    /// For Apple's API over HTTP/2, where a client certificate is requested but optional.
    private let http2: Pair
    /// For Google's APIs, which request no client certificate.
    private let google: Pair

    /// Loads the certificates.
    ///
    /// - Throws: `TLSError` if one of them cannot be used; its hint gives the reason.
    init(_ certificates: Certificates, requiresClientCertificate: Bool) throws(TLSError) {
        let identity = try Credentials.pem(certificate: certificates.server)
        func pair(
            _ protocols: [String], authority: [UInt8]?, requiresCertificate: Bool = false
        ) throws(TLSError) -> Pair {
            func context(issuingTicket: Bool) throws(TLSError) -> TLSContext {
                var options = TLSOptions(applicationProtocols: protocols)
                options.issuesTicket = issuingTicket
                return try .server(
                    identity: identity, clientAuthority: authority, requiresClientCertificate: requiresCertificate,
                    options: options)
            }
            return Pair(
                usual: try context(issuingTicket: true), withoutTicket: try context(issuingTicket: false))
        }
        binary = try pair([], authority: certificates.authority, requiresCertificate: requiresClientCertificate)
        http2 = try pair(["h2"], authority: certificates.authority)
        google = try pair(["h2"], authority: nil)
    }

    /// The context of the feedback service.
    var feedback: TLSContext { binary.usual }

    /// Returns the context for a port.
    func context(for port: Port, issuingTicket: Bool) -> TLSContext {
        let pair =
            switch port {
            case .binary: binary
            case .http2: http2
            case .fcm, .oauth: google
            }
        return issuingTicket ? pair.usual : pair.withoutTicket
    }
}
