import COpenSSL

/// One TLS connection in memory: takes ciphertext and yields plaintext, and the reverse. Never waits and owns no
/// socket.
///
/// The owner moves the bytes. It passes bytes from the peer to `receive`, and sends the bytes from `takeCiphertext` to
/// the peer after every call that may produce some: `handshake`, `encrypt`, `decrypt` and `close`. After a call has
/// thrown, the remaining ciphertext is the alert for the peer; send it, then close the socket. The first error is
/// final: every later call throws it again.
///
/// Not Sendable: one actor owns an engine together with its socket.
@safe package final class TLSEngine {
    let ssl: OpaquePointer
    let wire: TLSWire
    /// Retained because OpenSSL's callbacks read it.
    private let context: TLSContext
    private let serverName: String?
    private var failure: TLSError?

    /// Creates the client side of a connection.
    ///
    /// - Parameters:
    ///   - context: A client context.
    ///   - serverName: The host name, or IPv4 or IPv6 address, that the server's certificate must be for. A name is
    ///     also sent (SNI). A final dot is dropped.
    /// - Throws: `TLSError` of category `library` when the name is not a host name or memory is exhausted.
    package convenience init(context: TLSContext, serverName: String) throws(TLSError) {
        precondition(!context.isServer, "a server's context cannot connect")
        let name = serverName.hasSuffix(".") ? String(serverName.dropLast()) : serverName
        try self.init(adopting: context, name: name)
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TLSError(
                .library, "the server name is empty or not ASCII", hint: "write the name in its `xn--` form")
        }
        guard verify(name) else { throw LibraryErrors.drain().asFailure() }
        unsafe SSL_set_connect_state(ssl)
    }

    /// Creates the server side of a connection.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package convenience init(context: TLSContext) throws(TLSError) {
        precondition(context.isServer, "a client's context cannot accept")
        try self.init(adopting: context, name: nil)
        unsafe SSL_set_accept_state(ssl)
    }

    private init(adopting context: TLSContext, name: String?) throws(TLSError) {
        LibraryErrors.clear()
        guard let ssl = unsafe SSL_new(context.pointer) else { throw LibraryErrors.drain().asFailure() }
        unsafe self.ssl = ssl
        self.context = context
        serverName = name
        wire = TLSWire()
        guard let bio = unsafe wire.makeBIO(), unsafe wire.attach(to: ssl) else {
            throw LibraryErrors.drain().asFailure()
        }
        unsafe SSL_set_bio(ssl, bio, bio)
    }

    deinit { unsafe SSL_free(ssl) }

    /// Continues the handshake as far as the received bytes allow.
    ///
    /// - Returns: `.wantsPeer` until the peer's answer has been received. `.complete` on a TLS 1.3 client does not yet
    ///   mean that the server accepted the client's certificate: see `hasReceivedSessionTicket`.
    /// - Throws: `TLSError`. Its `hint` is the remedy, and `mayPassOnRetry` says whether a retry can help.
    package func handshake() throws(TLSError) -> HandshakeState {
        try throwFailure()
        LibraryErrors.clear()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 {
            isEstablished = true
            return .complete
        }
        let code = unsafe SSL_get_error(ssl, result)
        if code == SSL_ERROR_WANT_READ { return .wantsPeer }
        throw fail(code)
    }

    /// Queues bytes from the peer. Copies them without decrypting yet.
    package func receive(_ ciphertext: Span<UInt8>) { wire.receive(ciphertext) }

    /// Notes that the peer's stream has ended, so that no more bytes follow.
    ///
    /// `decrypt` still yields the bytes that arrived before. Then it throws `closedEarly`, unless the peer sent
    /// `close_notify`.
    package func receiveEnd() { wire.hasEnded = true }

    /// Appends arrived plaintext to `plaintext`, at most `limit` bytes. The limit must be above 0.
    ///
    /// - Returns: `.bytes` with a count above 0; the limit may have been reached, so call again. `.wantsPeer` when more
    ///   bytes must be received first. `.closed` when the peer sent `close_notify`.
    /// - Throws: `TLSError`: `alertReceived` when the peer refused something, which with TLS 1.3 includes this side's
    ///   certificate; `closedEarly` when the stream was cut. All plaintext before the error has been returned.
    package func decrypt(into plaintext: inout [UInt8], limit: Int = 65_536) throws(TLSError) -> Reception {
        precondition(limit > 0, "the limit must be greater than 0")
        try throwFailure()
        let start = plaintext.count
        while plaintext.count - start < limit {
            LibraryErrors.clear()
            let waiting = wire.incomingByteCount + Int(unsafe SSL_pending(ssl))
            if waiting == 0, plaintext.count > start { break }
            let space = min(limit - (plaintext.count - start), max(1_024, min(waiting, 16_384)))
            let (result, code) = read(into: &plaintext, atMost: space)
            if result > 0 { continue }
            if code == SSL_ERROR_WANT_READ || code == SSL_ERROR_ZERO_RETURN {
                guard plaintext.count == start else { break }
                return code == SSL_ERROR_WANT_READ ? .wantsPeer : .closed
            }
            let error = fail(code)
            guard plaintext.count > start else { throw error }
            break
        }
        return .bytes(plaintext.count - start)
    }

    /// Encrypts `plaintext`, of any size, in records of 16 KiB; the last one holds the remainder.
    ///
    /// Each call ends its last record, so combine small writes into one call.
    ///
    /// - Throws: `TLSError` if the connection has already failed.
    package func encrypt(_ plaintext: Span<UInt8>) throws(TLSError) {
        try throwFailure()
        precondition(isEstablished, "nothing can be sent before the handshake is complete")
        guard !plaintext.isEmpty else { return }
        LibraryErrors.clear()
        let sealed = plaintext.count + (plaintext.count / 16_384 + 1) * 64
        if wire.outgoing.isEmpty { wire.outgoing.reserveCapacity(sealed) }
        var written = 0
        let result = unsafe plaintext.withUnsafeBufferPointer { bytes in
            unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
        }
        guard result == 1 else { throw fail(unsafe SSL_get_error(ssl, result)) }
    }

    /// Queues `close_notify`, which the peer reads as the end. Does nothing on a failed connection.
    package func close() {
        guard failure == nil, isEstablished else { return }
        LibraryErrors.clear()
        _ = unsafe SSL_shutdown(ssl)
        LibraryErrors.clear()
    }

    /// The number of encrypted bytes not yet taken.
    package var ciphertextByteCount: Int { wire.outgoing.count }

    /// Moves all encrypted bytes into a buffer, to be sent to the peer.
    ///
    /// - Parameter buffer: Appended to. If it is empty, the two arrays are swapped, which costs nothing: keep one
    ///   array, empty it with its capacity kept once it is written, and pass it in again.
    package func takeCiphertext(into buffer: inout [UInt8]) {
        guard !wire.outgoing.isEmpty else { return }
        if buffer.isEmpty {
            swap(&buffer, &wire.outgoing)
        } else {
            buffer.append(contentsOf: wire.outgoing)
            wire.outgoing.removeAll(keepingCapacity: true)
        }
    }

    /// Whether this side completed the handshake. A later error does not change it.
    package private(set) var isEstablished = false

    /// Whether a TLS 1.3 session ticket has arrived (client; noticed by `decrypt`).
    ///
    /// A server sends one only after it accepted the client's certificate, so a ticket is an early proof of acceptance.
    /// Not all servers send any. With TLS 1.2 the end of the handshake is the proof, and this stays `false`.
    package var hasReceivedSessionTicket: Bool { wire.hasSessionTicket && version == .tls13 }
}

/// The progress of a handshake.
package enum HandshakeState: Hashable, Sendable {
    /// Both sides may send.
    case complete
    /// The peer's next bytes are needed. Send the pending ciphertext first.
    case wantsPeer
}

/// The result of `TLSEngine.decrypt`.
package enum Reception: Hashable, Sendable {
    /// This number of bytes, at least 1, was appended.
    case bytes(Int)
    /// More bytes must be received first.
    case wantsPeer
    /// The peer sent `close_notify`.
    case closed
}

extension TLSEngine {
    /// Sets the name or address to verify in the server's certificate, and the name for SNI.
    private func verify(_ name: String) -> Bool {
        let parameters = unsafe SSL_get0_param(ssl)
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return true }
        LibraryErrors.clear()
        let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        unsafe SSL_set_hostflags(ssl, UInt32(flags))
        return unsafe SSL_set1_host(ssl, name) == 1 && shim_SSL_set_server_name(ssl, name) == 1
    }

    private func throwFailure() throws(TLSError) {
        if let failure { throw failure }
    }

    /// Appends the plaintext of one read to `plaintext`.
    private func read(into plaintext: inout [UInt8], atMost limit: Int) -> (result: Int32, code: Int32) {
        let result = unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { space in
            var count = 0
            let result = unsafe SSL_read_ex(ssl, space.baseAddress, limit, &count)
            unsafe plaintext.append(contentsOf: UnsafeRawBufferPointer(rebasing: space[..<count]))
            return result
        }
        return (result, result > 0 ? SSL_ERROR_NONE : unsafe SSL_get_error(ssl, result))
    }

    /// Records and returns the error for a result of SSL_get_error.
    private func fail(_ code: Int32) -> TLSError {
        let diagnosis = ConnectionDiagnosis(
            errors: LibraryErrors.drain(), code: code, rejection: wire.rejection, hasEnded: wire.hasEnded,
            isEstablished: isEstablished, serverName: serverName)
        let error = diagnosis.error
        failure = error
        return error
    }
}
