import COpenSSL

/// The settings shared by many connections: identity, trust, versions. Creating one takes some milliseconds: create one
/// per configuration and use it for all connections.
///
/// A changed certificate needs a new context; existing engines keep the old one.
///
/// Sendable: SSL_CTX is only read after `init`, its own counters are atomic, and OpenSSL locks its caches.
@safe package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    let isServer: Bool
    /// The ALPN names in wire format, at a fixed address, because a server's callback reads them.
    fileprivate let protocols: UnsafeMutableBufferPointer<UInt8>

    private init(isServer: Bool, options: TLSOptions) throws(TLSError) {
        LibraryErrors.clear()
        guard let wire = options.wireProtocols else {
            throw TLSError(.library, "an ALPN name is empty or longer than 255 bytes")
        }
        guard let context = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw LibraryErrors.drain().asFailure()
        }
        unsafe pointer = context
        self.isServer = isServer
        unsafe protocols = .allocate(capacity: wire.count)
        _ = unsafe protocols.initialize(fromContentsOf: wire)
        unsafe shim_SSL_CTX_harden(context)
        unsafe shim_SSL_CTX_release_buffers(context)
        let range = options.versions
        let oldest = Int32(range.lowerBound.rawValue)
        guard unsafe shim_SSL_CTX_set_versions(context, oldest, Int32(range.upperBound.rawValue)) == 1 else {
            throw LibraryErrors.drain().asFailure()
        }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
        unsafe protocols.deallocate()
    }

    /// Creates a client context. The server's certificate and name are always verified.
    ///
    /// - Parameters:
    ///   - identity: The credentials to send when the server asks for a certificate.
    ///   - trust: The trusted authorities.
    ///   - options: Versions and ALPN.
    /// - Returns: A context for any number of engines.
    /// - Throws: `TLSError` of category `trust` when the PEM text holds no usable certificate, `credentials` when the
    ///   system's security level refuses the identity. Report it to the user; the hint says what to change.
    package static func client(
        identity: Credentials? = nil, trust: TrustSource = .system, options: TLSOptions = TLSOptions()
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: false, options: options)
        unsafe SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, noteRejection)
        unsafe shim_SSL_CTX_report_sessions(context.pointer)
        unsafe SSL_CTX_sess_set_new_cb(context.pointer) { ssl, _ in
            unsafe TLSWire.attached(to: ssl)?.hasSessionTicket = true
            return 0
        }
        switch trust {
        case .system: try context.trustSystem()
        case .pem(let text): try context.trust(text)
        }
        if let identity { try context.present(identity) }
        try context.offerProtocols()
        return context
    }

    /// Creates a server context.
    ///
    /// - Parameters:
    ///   - identity: The server's credentials.
    ///   - clientAuthority: PEM text of the authorities that issue client certificates. With `nil`, the server asks for
    ///     a certificate only if one is required or the options say so, and accepts one from any issuer.
    ///   - requiresClientCertificate: Whether to refuse a client without a certificate.
    ///   - options: Versions and ALPN.
    /// - Returns: A context for any number of engines.
    /// - Throws: `TLSError`, as `client` does.
    package static func server(
        identity: Credentials, clientAuthority: [UInt8]? = nil, requiresClientCertificate: Bool = false,
        options: TLSOptions = TLSOptions()
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: true, options: options)
        try context.present(identity)
        let mode = SSL_VERIFY_PEER | (requiresClientCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
        if let clientAuthority {
            try context.trust(clientAuthority, announce: true)
            unsafe SSL_CTX_set_verify(context.pointer, mode, noteRejection)
        } else if requiresClientCertificate || options.asksForCertificate {
            unsafe SSL_CTX_set_verify(context.pointer, mode) { _, _ in 1 }
        }
        try context.issueTickets(options.issuesTicket ? 1 : 0)
        context.selectProtocols()
        return context
    }

    /// A ticket tells the client that its certificate was accepted. It cannot be used to resume a session.
    private func issueTickets(_ count: Int) throws(TLSError) {
        unsafe shim_SSL_CTX_forget_sessions(pointer)
        let name = Array("pushspool".utf8)
        guard unsafe SSL_CTX_set_num_tickets(pointer, count) == 1,
            unsafe SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count)) == 1
        else { throw LibraryErrors.drain().asFailure() }
    }

    private func present(_ identity: Credentials) throws(TLSError) {
        LibraryErrors.clear()
        let certificate = unsafe identity.certificate.pointer
        let chain = unsafe identity.chain.pointer
        guard unsafe SSL_CTX_use_cert_and_key(pointer, certificate, identity.key.pointer, chain, 1) == 1 else {
            let errors = LibraryErrors.drain()
            throw TLSError(
                .credentials(.tooWeak),
                "certificate \"\(identity.facts.displayName)\" is not allowed on this system: \(errors.text)",
                hint: "create a new certificate with an RSA key of 2048 bits or an EC key, signed with SHA-256")
        }
    }

    private func trustSystem() throws(TLSError) {
        guard let store = unsafe SystemAuthorities.shared.store else {
            throw TLSError(
                .trust, "the system's trusted authorities cannot be read",
                hint: "install the package ca-certificates, or set `trust` to a PEM file")
        }
        unsafe SSL_CTX_set1_cert_store(pointer, store)
    }

    private func trust(_ text: [UInt8], announce: Bool = false) throws(TLSError) {
        let authorities = try PEMFile(text).certificates()
        guard authorities.count > 0 else {
            throw TLSError(
                .trust, "the file of trusted authorities holds no certificate",
                hint: "it must be PEM text with at least one block `-----BEGIN CERTIFICATE-----`")
        }
        let store = unsafe SSL_CTX_get_cert_store(pointer)
        for index in 0..<authorities.count {
            let authority = unsafe authorities.borrow(index)
            guard unsafe X509_STORE_add_cert(store, authority) == 1,
                unsafe !announce || SSL_CTX_add_client_CA(pointer, authority) == 1
            else { throw LibraryErrors.drain().asFailure() }
        }
        unsafe X509_STORE_set_flags(store, CUnsignedLong(X509_V_FLAG_PARTIAL_CHAIN))
    }

    private func offerProtocols() throws(TLSError) {
        guard unsafe !protocols.isEmpty else { return }
        let count = unsafe UInt32(protocols.count)
        guard unsafe SSL_CTX_set_alpn_protos(pointer, protocols.baseAddress, count) == 0 else {
            throw LibraryErrors.drain().asFailure()
        }
    }

    private func selectProtocols() {
        guard unsafe !protocols.isEmpty else { return }
        // Every engine keeps its context, so the pointer outlives all connections that may call back.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe SSL_CTX_set_alpn_select_cb(pointer, selectProtocol, this)
    }
}

/// Selects the server's first protocol that the client offers too (RFC 7301 §3.2).
private func selectProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ count: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let argument = unsafe argument, let chosen = unsafe chosen else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let ours = unsafe Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue().protocols
    var selection: UnsafeMutablePointer<UInt8>?
    let ourCount = UInt32(ours.count)
    let result = unsafe SSL_select_next_proto(&selection, count, ours.baseAddress, ourCount, offered, offeredCount)
    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    unsafe chosen.pointee = unsafe UnsafePointer(selection)
    return SSL_TLSEXT_ERR_OK
}

/// Records the first error of a chain for the message. The decision remains OpenSSL's.
private func noteRejection(_ isAccepted: Int32, _ store: OpaquePointer?) -> Int32 {
    guard isAccepted == 0, let store = unsafe store else { return isAccepted }
    let ssl = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    guard let wire = unsafe TLSWire.attached(to: OpaquePointer(ssl)), wire.rejection == nil else { return 0 }
    let certificate = unsafe X509_STORE_CTX_get_current_cert(store)
    wire.rejection = CertificateRejection(
        code: unsafe X509_STORE_CTX_get_error(store),
        facts: unsafe certificate.map { unsafe CertificateFacts(reading: $0) })
    return 0
}
