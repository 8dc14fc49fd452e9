import COpenSSL

/// The two byte queues between OpenSSL and the owner of a `TLSEngine`, as a custom BIO.
///
/// OpenSSL's memory BIO would move unread bytes to the front on each write. Here, encrypted records are appended to an
/// array that the owner takes as a whole, so an outgoing record is copied only once.
final class TLSWire {
    /// Encrypted bytes not yet taken.
    var outgoing: [UInt8] = []
    /// Received bytes; those before `incomingStart` have been read.
    private var incoming: [UInt8] = []
    private var incomingStart = 0
    /// Whether the peer's stream has ended.
    var hasEnded = false
    /// Whether a TLS 1.3 session ticket has arrived.
    var hasSessionTicket = false
    /// The first error in the peer's certificate chain.
    var rejection: CertificateRejection?

    /// The number of received bytes that OpenSSL has not read yet.
    var incomingByteCount: Int { incoming.count - incomingStart }

    /// Appends bytes from the peer.
    func receive(_ bytes: Span<UInt8>) {
        if incomingStart == incoming.count {
            incoming.removeAll(keepingCapacity: true)
            incomingStart = 0
        } else if incomingStart >= 65_536, incomingStart >= incoming.count / 2 {
            incoming.removeSubrange(..<incomingStart)
            incomingStart = 0
        }
        unsafe bytes.withUnsafeBufferPointer { unsafe incoming.append(contentsOf: $0) }
    }

    /// Copies at most `space.count` received bytes to OpenSSL.
    fileprivate func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(space.count, incomingByteCount)
        unsafe incoming.withUnsafeBytes { bytes in
            let next = unsafe bytes[incomingStart..<incomingStart + count]
            unsafe space.copyMemory(from: UnsafeRawBufferPointer(rebasing: next))
        }
        incomingStart += count
        return count
    }

    /// Returns a new BIO over this wire, which must outlive it; `nil` when out of memory.
    func makeBIO() -> OpaquePointer? {
        guard let bio = unsafe BIO_new(WireMethod.shared.pointer) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Returns the wire of a BIO made by `makeBIO`.
    fileprivate static func of(_ bio: OpaquePointer?) -> TLSWire? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<TLSWire>.fromOpaque(data).takeUnretainedValue()
    }

    /// Attaches this wire to `ssl` for its callbacks. The wire must outlive it.
    func attach(to ssl: OpaquePointer) -> Bool {
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1
    }

    /// Returns the wire attached to `ssl`.
    static func attached(to ssl: OpaquePointer?) -> TLSWire? {
        guard let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSWire>.fromOpaque(data).takeUnretainedValue()
    }
}

/// The method table of the wire's BIO, created once and never freed.
///
/// Sendable: OpenSSL only reads the table after `init`.
@safe private struct WireMethod: @unchecked Sendable {
    static let shared = WireMethod()
    let pointer: OpaquePointer?

    private init() {
        let method = unsafe BIO_meth_new(shim_BIO_memory_type(), "wire")
        unsafe pointer = method
        unsafe BIO_meth_set_write_ex(method) { bio, bytes, count, written in
            guard let wire = unsafe TLSWire.of(bio), let bytes = unsafe bytes else { return 0 }
            unsafe shim_BIO_clear_retry(bio)
            unsafe wire.outgoing.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
            unsafe written?.pointee = count
            return 1
        }
        unsafe BIO_meth_set_read_ex(method) { bio, space, capacity, read in
            guard let wire = unsafe TLSWire.of(bio), let space = unsafe space else { return 0 }
            unsafe shim_BIO_clear_retry(bio)
            let count = unsafe wire.read(into: UnsafeMutableRawBufferPointer(start: space, count: capacity))
            unsafe read?.pointee = count
            if count == 0, !wire.hasEnded { unsafe shim_BIO_set_retry_read(bio) }
            return count > 0 ? 1 : 0
        }
        unsafe BIO_meth_set_ctrl(method) { bio, command, _, _ in
            guard let wire = unsafe TLSWire.of(bio) else { return 0 }
            switch Int32(truncatingIfNeeded: command) {
            case BIO_CTRL_FLUSH: return 1
            case BIO_CTRL_EOF: return wire.hasEnded && wire.incomingByteCount == 0 ? 1 : 0
            case BIO_CTRL_PENDING: return wire.incomingByteCount
            case BIO_CTRL_WPENDING: return wire.outgoing.count
            default: return 0
            }
        }
    }
}
