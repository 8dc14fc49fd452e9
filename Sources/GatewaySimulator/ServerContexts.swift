import OpenSSL

/// The TLS contexts of the simulator's ports.
struct ServerContexts: Sendable {
    /// The usual context of the binary protocol.
    let usual: TLSContext
    /// The same without a session ticket, so that a TLS 1.3 client receives nothing after its handshake.
    private let withoutTicket: TLSContext
    /// For HTTP/2, where a client certificate is requested but optional.
    private let http2: TLSContext
    private let http2WithoutTicket: TLSContext

    /// Loads the certificates.
    ///
    /// - Throws: `TLSError` if one of them cannot be used; its hint gives the reason.
    init(_ certificates: Certificates, requiresClientCertificate: Bool) throws(TLSError) {
        let identity = try Credentials.pem(certificate: certificates.server)
        func context(for port: Port, issuingTicket: Bool) throws(TLSError) -> TLSContext {
            var options = TLSOptions(applicationProtocols: port == .http2 ? ["h2"] : [])
            options.issuesTicket = issuingTicket
            return try .server(
                identity: identity, clientAuthority: certificates.authority,
                requiresClientCertificate: port == .binary && requiresClientCertificate, options: options)
        }
        usual = try context(for: .binary, issuingTicket: true)
        withoutTicket = try context(for: .binary, issuingTicket: false)
        http2 = try context(for: .http2, issuingTicket: true)
        http2WithoutTicket = try context(for: .http2, issuingTicket: false)
    }

    /// Returns the context for a port.
    func context(for port: Port, issuingTicket: Bool) -> TLSContext {
        switch port {
        case .binary: issuingTicket ? usual : withoutTicket
        case .http2: issuingTicket ? http2 : http2WithoutTicket
        }
    }
}
