package import LinuxIO
package import OpenSSL

/// One TLS connection over one socket on a reactor; both sides of the wire use it.
///
/// Belongs to one actor on the reactor, which alone may call it. Use it as a loop: wait, read until `.wouldBlock`,
/// process, write, flush. Reading, writing and flushing never wait. After `write` or `flush` has thrown, go on reading:
/// what the peer said before it hung up may still be there.
package final class SecureStream {
    let socket: StreamSocket
    let engine: TLSEngine
    /// Ciphertext fresh from the socket; only ever scratch, and small until a read has filled it.
    private var arriving = [UInt8](repeating: 0, count: SecureStream.readByteCounts.lowerBound)
    /// Ciphertext on its way out, of which the kernel has taken the first `leavingOffset` bytes.
    private var leaving: [UInt8] = []
    private var leavingOffset = 0
    /// Plaintext that came while somebody waited for something else; the next read yields it.
    private var early: [UInt8] = []
    private var mayHoldPlaintext = false
    private var isWriteBroken = false
    private var hasAborted = false
    private var acknowledged = 0

    /// Ciphertext bytes the kernel has taken in all, the handshake's included.
    package private(set) var handedOverByteCount = 0

    /// What one read takes from the socket: one TLS record, however long (RFC 8446 §5.2), then nearly four.
    private static let readByteCounts = 16_645...65_536

    /// The client's side of a connected socket. Call `handshake` next.
    ///
    /// - Parameters:
    ///   - socket: connected, with nothing of TLS exchanged yet.
    ///   - context: a client's context.
    ///   - serverName: the host name or address that the server's certificate must be for.
    /// - Throws: `TLSError`: `serverName` cannot be a name.
    package init(connecting socket: StreamSocket, context: TLSContext, serverName: String) throws(TLSError) {
        self.socket = socket
        engine = try TLSEngine(context: context, serverName: serverName)
    }

    /// The server's side of an accepted socket. Call `handshake` next.
    ///
    /// - Parameters:
    ///   - socket: just accepted.
    ///   - context: a server's context.
    /// - Throws: `TLSError`: memory is out.
    package init(accepting socket: StreamSocket, context: TLSContext) throws(TLSError) {
        self.socket = socket
        engine = try TLSEngine(context: context)
    }

    /// Where the owner waits and is woken; `wait(for:until:)` is the convenient way to wait.
    package var waiter: Waiter { socket.waiter }

    /// The other end; `nil` for a socket pair.
    package var peerAddress: SocketAddress? { socket.peerAddress }

    /// What was agreed on in the handshake, and the peer's certificate.
    package var facts: TLSEngine { engine }

    /// Whether a session ticket of TLS 1.3 has come, which proves that the server took this side's certificate.
    ///
    /// Found by reading. Not all servers send one.
    package var hasReceivedSessionTicket: Bool { engine.hasReceivedSessionTicket }

    /// Ciphertext bytes made in all, the handshake's included: after `write` and until the next call, the position of
    /// the last plaintext byte's record.
    package var encryptedByteCount: Int { handedOverByteCount + pendingByteCount }

    /// Ciphertext bytes that wait for the kernel to take them.
    package var pendingByteCount: Int { leaving.count - leavingOffset + engine.ciphertextByteCount }

    /// Ciphertext bytes that the peer's kernel has acknowledged in all; never too high, and it never falls.
    package var acknowledgedByteCount: Int {
        if !hasAborted { acknowledged = max(acknowledged, handedOverByteCount - socket.unacknowledgedByteCount) }
        return acknowledged
    }

    /// Appends plaintext that has arrived to `buffer`, at most `limit` bytes.
    ///
    /// May make ciphertext (an alert, a key update): flush afterwards.
    ///
    /// - Parameters:
    ///   - buffer: what is in it stays.
    ///   - limit: reaching it says that more may be there.
    /// - Returns: `.bytes` again and again, then `.wouldBlock` or `.closed`.
    /// - Throws: `TLSError`: the peer refused something or broke the protocol; `SystemError`: the connection is broken.
    ///   Everything that came before has been yielded. The connection is of no further use: abort it.
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

    /// Encrypts `plaintext` in full TLS records, the last one with the rest. Hands nothing to the kernel: flush does.
    ///
    /// Gather: 16 to 128 KiB a call are cheapest. It takes all, so stop when `pendingByteCount` is high.
    ///
    /// - Throws: `TLSError`: the connection has failed before.
    package func write(_ plaintext: Span<UInt8>) throws(TLSError) {
        try engine.encrypt(plaintext)
    }

    /// Hands as much ciphertext to the kernel as it takes.
    ///
    /// - Returns: whether it has taken all; else `wait` also waits until it takes more.
    /// - Throws: `SystemError`: the connection is broken. Write no more, but read to the end.
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

    /// Waits as `Waiter.wait` does, and for room in the kernel too while ciphertext is pending: flush then.
    ///
    /// - Parameters:
    ///   - interest: usually `.readable`, which here means that a read may yield plaintext.
    ///   - deadline: `nil` waits for ever.
    /// - Returns: all that holds; after `.hangup` read to the end.
    package func wait(for interest: Readiness = .readable, until deadline: ContinuousClock.Instant? = nil) async
        -> Readiness
    {
        if interest.contains(.readable) && (mayHoldPlaintext || !early.isEmpty) { return .readable }
        return await waiter.wait(for: interest.union(needed), until: deadline)
    }

    /// Lets other connections go first, as `Waiter.yield` does, although this one may have more to read.
    package func yield() async {
        await waiter.yield()
    }

    /// Makes the present wait, or else the next one, return at once with `.woken`. On the reactor only.
    package func wake() {
        waiter.wake()
    }

    /// Resets the connection at once; what the peer has not read may be lost. Idempotent.
    package func abort() {
        guard !hasAborted else { return }
        _ = acknowledgedByteCount
        hasAborted = true
        isWriteBroken = true
        socket.abort()
    }

    /// What to wait for so that pending ciphertext leaves.
    var needed: Readiness { pendingByteCount > 0 && !isWriteBroken ? .writable : [] }

    /// Moves what the socket has, one read of it, into the engine. Returns `false` if it has nothing now.
    func receive() throws(SystemError) -> Bool {
        switch try socket.read(into: &arriving) {
        case .bytes(let count):
            let bytes = arriving
            engine.receive(bytes.span.extracting(..<count))
            let wide = Self.readByteCounts.upperBound
            if count == bytes.count, count < wide { arriving = [UInt8](repeating: 0, count: wide) }
        case .closed: engine.receiveEnd()
        case .wouldBlock: return false
        }
        return true
    }

    /// Reads what the socket has and drops it.
    func dropArriving() throws(SystemError) -> LinuxIO.ReadResult {
        try socket.read(into: &arriving)
    }

    /// Reads ahead into the buffer that the next read empties.
    func readEarly() throws -> ReadResult {
        var bytes: [UInt8] = []
        swap(&bytes, &early)
        defer { early = bytes }
        return try read(into: &bytes)
    }
}

extension SecureStream {
    /// What a read found.
    package enum ReadResult: Sendable, Hashable {
        /// So many bytes, at least 1, were appended; read again.
        case bytes(Int)
        /// Nothing now: wait for `.readable`.
        case wouldBlock
        /// The peer's stream has ended: with a goodbye (`close_notify`), or cut off, when bytes may be missing.
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

    /// Empties the written buffer and fetches what the engine has made since.
    private func refill() {
        leaving.removeAll(keepingCapacity: true)
        leavingOffset = 0
        engine.takeCiphertext(into: &leaving)
    }
}

extension SystemError {
    /// What flushing says after it has failed once.
    fileprivate static func brokenEarlier(_ peer: SocketAddress?) -> SystemError {
        .brokenPipe("send", peer?.description ?? "socket pair")
    }
}
