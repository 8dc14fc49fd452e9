import OpenSSL

/// What a server shows and demands in a handshake.
struct ServerContexts: Sendable {
    /// The ordinary way.
    let usual: TLSContext
    /// The same without a session ticket, so that a TLS 1.3 client hears nothing after its handshake.
    let withoutTicket: TLSContext

    /// Reads the certificates.
    ///
    /// - Throws: `TLSError`: one of them cannot be used; its hint says why.
    init(_ certificates: Certificates, requiresClientCertificate: Bool) throws(TLSError) {
        let identity = try Credentials.pem(certificate: certificates.server)
        func context(issuingTicket: Bool) throws(TLSError) -> TLSContext {
            var options = TLSOptions()
            options.issuesTicket = issuingTicket
            return try .server(
                identity: identity, clientAuthority: certificates.authority,
                requiresClientCertificate: requiresClientCertificate, options: options)
        }
        usual = try context(issuingTicket: true)
        withoutTicket = try context(issuingTicket: false)
    }
}
