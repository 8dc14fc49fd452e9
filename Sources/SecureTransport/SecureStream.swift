package import LinuxIO
package import OpenSSL

/// One TLS connection over one socket on a reactor, for both the client and the server side.
///
/// Belongs to one actor on the reactor, and only that actor may call it. Use it in a loop: wait, read until
/// `.wouldBlock`, process, write, flush. Reading, writing and flushing never wait. After `write` or `flush` has thrown,
/// continue reading: the peer's last bytes before it closed may still arrive.
package final class SecureStream {
    let socket: StreamSocket
    let engine: TLSEngine
    /// Outgoing ciphertext, of which the kernel has taken the first `leavingOffset` bytes.
    private var leaving: [UInt8] = []
    private var leavingOffset = 0
    /// Plaintext that arrived during another wait; the next read returns it.
    private var early: [UInt8] = []
    private var mayHoldPlaintext = false
    private var isWriteBroken = false
    private var hasAborted = false
    private var acknowledged = 0

    /// The total number of ciphertext bytes that the kernel has taken, including the handshake.
    package private(set) var handedOverByteCount = 0

    /// The total number of ciphertext bytes that have been read, including the handshake.
    package private(set) var arrivedByteCount = 0

    /// Creates the client side of a connected socket. Call `handshake` next.
    ///
    /// - Parameters:
    ///   - socket: A connected socket without any TLS traffic yet.
    ///   - context: A client context.
    ///   - serverName: The host name or address that the server's certificate must be for.
    /// - Throws: `TLSError` if `serverName` is not a valid name.
    package init(connecting socket: StreamSocket, context: TLSContext, serverName: String) throws(TLSError) {
        self.socket = socket
        engine = try TLSEngine(context: context, serverName: serverName)
    }

    /// Creates the server side of an accepted socket. Call `handshake` next.
    ///
    /// - Parameters:
    ///   - socket: A socket that was just accepted.
    ///   - context: A server context.
    /// - Throws: `TLSError` when out of memory.
    package init(accepting socket: StreamSocket, context: TLSContext) throws(TLSError) {
        self.socket = socket
        engine = try TLSEngine(context: context)
    }

    /// The object that the owner waits on; `wait(for:until:)` is the convenient way to wait.
    package var waiter: Waiter { socket.waiter }

    /// The peer's address; `nil` for a socket pair.
    package var peerAddress: SocketAddress? { socket.peerAddress }

    /// The negotiated parameters and the peer's certificate.
    package var facts: TLSEngine { engine }

    /// Whether a TLS 1.3 session ticket has arrived, which proves that the server accepted this side's certificate.
    ///
    /// Noticed by reading. Not all servers send one.
    package var hasReceivedSessionTicket: Bool { engine.hasReceivedSessionTicket }

    /// The total number of ciphertext bytes produced, including the handshake. Between a `write` and the next call,
    /// this is the position of the last plaintext byte's record.
    package var encryptedByteCount: Int { handedOverByteCount + pendingByteCount }

    /// The number of ciphertext bytes that wait for the kernel.
    package var pendingByteCount: Int { leaving.count - leavingOffset + engine.ciphertextByteCount }

    /// The total number of ciphertext bytes that the peer's kernel has acknowledged. Never too high, and never
    /// decreases.
    package var acknowledgedByteCount: Int {
        if !hasAborted { acknowledged = max(acknowledged, handedOverByteCount - socket.unacknowledgedByteCount) }
        return acknowledged
    }

    /// Appends arrived plaintext to `buffer`, at most `limit` bytes.
    ///
    /// May produce ciphertext (an alert, a key update): call `flush` afterwards.
    ///
    /// - Parameters:
    ///   - buffer: Appended to.
    ///   - limit: The maximum number of bytes. If it is reached, there may be more.
    /// - Returns: `.bytes` as long as there is plaintext, then `.wouldBlock` or `.closed`.
    /// - Throws: `TLSError` if the peer refused something or broke the protocol; `SystemError` if the connection is
    ///   broken. All plaintext before the error has been returned. Abort the connection.
    package func read(into buffer: inout [UInt8], limit: Int = 65_536) throws -> ReadResult {
        if !early.isEmpty { return takeEarly(into: &buffer, limit: limit) }
        while true {
            switch try decrypt(into: &buffer, limit: limit) {
            case .bytes(let count):
                mayHoldPlaintext = true
                return .bytes(count)
            case .closed(let isClean):
                return .closed(isClean: isClean)
            case .wouldBlock:
                mayHoldPlaintext = false
                guard try receive() else { return .wouldBlock }
            }
        }
    }

    /// Encrypts `plaintext` in full TLS records, with the remainder in the last one. Passes nothing to the kernel;
    /// `flush` does.
    ///
    /// Combine small writes: 16 to 128 KiB per call are cheapest. Accepts any amount, so stop writing while
    /// `pendingByteCount` is high.
    ///
    /// - Throws: `TLSError` if the connection has already failed.
    package func write(_ plaintext: Span<UInt8>) throws(TLSError) {
        try engine.encrypt(plaintext)
    }

    /// Passes as much ciphertext to the kernel as it takes.
    ///
    /// - Returns: Whether the kernel has taken everything. If not, `wait` also waits until it takes more.
    /// - Throws: `SystemError` if the connection is broken. Stop writing, but read to the end.
    package func flush() throws(SystemError) -> Bool {
        if isWriteBroken { throw .brokenEarlier(socket.peerAddress) }
        while true {
            if leavingOffset == leaving.count { refill() }
            if leaving.isEmpty { return true }
            do throws(SystemError) {
                switch try socket.write(leaving.span.extracting(leavingOffset...)) {
                case .bytes(let count):
                    leavingOffset += count
                    handedOverByteCount += count
                case .wouldBlock:
                    return false
                }
            } catch {
                isWriteBroken = true
                throw error
            }
        }
    }

    /// Waits as `Waiter.wait` does. While ciphertext is pending, also waits for room in the kernel: call `flush` then.
    ///
    /// - Parameters:
    ///   - interest: Usually `.readable`, which here means that a read may return plaintext.
    ///   - byteCount: About how much ciphertext must have arrived before it counts as readable.
    ///   - deadline: The end of the wait; `nil` waits forever.
    ///   - holdsBack: Whether pending ciphertext stays here for now, so that room for it does not end the wait.
    /// - Returns: All conditions that hold. After `.hangup`, read to the end.
    package func wait(
        for interest: Readiness = .readable, atLeast byteCount: Int = 1,
        until deadline: ContinuousClock.Instant? = nil, holdsBack: Bool = false
    ) async -> Readiness {
        if interest.contains(.readable) && (mayHoldPlaintext || !early.isEmpty) { return .readable }
        return await waiter.wait(
            for: holdsBack ? interest : interest.union(needed), atLeast: byteCount, until: deadline)
    }

    /// Lets other connections run first, as `Waiter.yield` does, even if this one may have more to read.
    package func yield() async {
        await waiter.yield()
    }

    /// Makes the current wait, or else the next one, return immediately with `.woken`. Call it on the reactor only.
    package func wake() {
        waiter.wake()
    }

    /// Resets the connection immediately. Bytes that the peer has not read may be lost. Idempotent.
    package func abort() {
        guard !hasAborted else { return }
        _ = acknowledgedByteCount
        hasAborted = true
        isWriteBroken = true
        socket.abort()
    }

    /// The readiness to wait for so that pending ciphertext can leave.
    var needed: Readiness { pendingByteCount > 0 && !isWriteBroken ? .writable : [] }

    /// Moves one read's worth of bytes from the socket into the engine. Returns `false` if none are available.
    func receive() throws(SystemError) -> Bool {
        switch try socket.read(engine.receive) {
        case .bytes(let count):
            arrivedByteCount += count
            return true
        case .closed:
            engine.receiveEnd()
            return true
        case .wouldBlock: return false
        }
    }

    /// Reads available bytes from the socket and drops them.
    func dropArriving() throws(SystemError) -> LinuxIO.ReadResult {
        try socket.read { _ in }
    }

    /// Reads ahead into the buffer that the next read returns.
    func readEarly() throws -> ReadResult {
        var bytes: [UInt8] = []
        swap(&bytes, &early)
        defer { early = bytes }
        return try read(into: &bytes)
    }
}

extension SecureStream {
    /// The result of a read.
    package enum ReadResult: Sendable, Hashable {
        /// This number of bytes, at least 1, was appended; read again.
        case bytes(Int)
        /// Nothing is available now: wait for `.readable`.
        case wouldBlock
        /// The peer's stream has ended, either with `close_notify` or cut off. In the second case, bytes may be
        /// missing.
        case closed(isClean: Bool)
    }

    private func decrypt(into buffer: inout [UInt8], limit: Int) throws(TLSError) -> ReadResult {
        do throws(TLSError) {
            switch try engine.decrypt(into: &buffer, limit: limit) {
            case .bytes(let count): return .bytes(count)
            case .wantsPeer: return .wouldBlock
            case .closed: return .closed(isClean: true)
            }
        } catch {
            guard error.category == .closedEarly else { throw error }
            return .closed(isClean: false)
        }
    }

    private func takeEarly(into buffer: inout [UInt8], limit: Int) -> ReadResult {
        let count = min(limit, early.count)
        buffer.append(contentsOf: early[..<count])
        early.removeFirst(count)
        return .bytes(count)
    }

    /// Clears the written buffer and takes the ciphertext that the engine has produced since.
    private func refill() {
        leaving.removeAll(keepingCapacity: true)
        leavingOffset = 0
        engine.takeCiphertext(into: &leaving)
    }
}

extension SystemError {
    /// The error of a flush after an earlier flush has failed.
    fileprivate static func brokenEarlier(_ peer: SocketAddress?) -> SystemError {
        .brokenPipe("send", peer?.description ?? "socket pair")
    }
}
