import COpenSSL

/// Owns one reference to an X.509 certificate.
@safe struct CertificateHandle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of the caller's reference.
    init(adopting pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe X509_free(pointer) }
}

/// Owns one reference to a key pair or a public key.
@safe struct KeyHandle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of the caller's reference.
    init(adopting pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }
}

/// Owns a list of certificates and a reference to each of them.
@safe struct CertificateList: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of a stack and its references.
    init(adopting pointer: OpaquePointer) { unsafe self.pointer = pointer }

    /// Creates an empty list.
    init() throws(TLSError) {
        guard let stack = unsafe shim_X509_stack_new() else { throw LibraryErrors.drain().asFailure() }
        unsafe pointer = stack
    }

    deinit { unsafe shim_X509_stack_free(pointer) }

    var count: Int { unsafe Int(shim_X509_stack_count(pointer)) }

    /// Returns the certificate at `index`, which the list continues to own.
    func borrow(_ index: Int) -> OpaquePointer? { unsafe shim_X509_stack_at(pointer, Int32(index)) }

    /// Appends `certificate` with a reference of its own.
    func append(_ certificate: OpaquePointer) throws(TLSError) {
        guard unsafe X509_up_ref(certificate) == 1 else { throw LibraryErrors.drain().asFailure() }
        guard unsafe shim_X509_stack_push(pointer, certificate) > 0 else {
            unsafe X509_free(certificate)
            throw LibraryErrors.drain().asFailure()
        }
    }
}

/// Owns a memory BIO.
@safe struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    /// Creates a BIO to write into.
    init() throws(TLSError) {
        guard let bio = unsafe BIO_new(BIO_s_secmem()) else { throw LibraryErrors.drain().asFailure() }
        unsafe pointer = bio
    }

    /// Creates a BIO to read `bytes` from.
    static func reading(_ bytes: borrowing [UInt8]) throws(TLSError) -> MemoryBIO {
        let bio = try MemoryBIO()
        var written = 0
        let count = bytes.count
        let isWritten = unsafe bytes.withUnsafeBytes {
            unsafe BIO_write_ex(bio.pointer, $0.baseAddress, count, &written)
        }
        guard count == 0 || (isWritten == 1 && written == count) else { throw LibraryErrors.drain().asFailure() }
        return bio
    }

    deinit { unsafe BIO_free_all(pointer) }

    /// The bytes written and not yet read.
    func contents() -> [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe shim_BIO_memory(pointer, &start)
        guard let start = unsafe start, count > 0 else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
