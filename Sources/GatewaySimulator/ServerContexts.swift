import OpenSSL

/// What a server shows and demands in a handshake.
struct ServerContexts: Sendable {
    /// The ordinary way.
    let usual: TLSContext
    /// The same without a session ticket, so that a TLS 1.3 client hears nothing after its handshake.
    private let withoutTicket: TLSContext
    /// For HTTP/2, where a certificate is asked for and may be missing.
    private let http2: TLSContext
    private let http2WithoutTicket: TLSContext

    /// Reads the certificates.
    ///
    /// - Throws: `TLSError`: one of them cannot be used; its hint says why.
    init(_ certificates: Certificates, requiresClientCertificate: Bool) throws(TLSError) {
        let identity = try Credentials.pem(certificate: certificates.server)
        func context(for port: GatewayService.Port, issuingTicket: Bool) throws(TLSError) -> TLSContext {
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

    /// What holds on a port.
    func context(for port: GatewayService.Port, issuingTicket: Bool) -> TLSContext {
        switch port {
        case .binary: issuingTicket ? usual : withoutTicket
        case .http2: issuingTicket ? http2 : http2WithoutTicket
        }
    }
}
