import COpenSSL

/// A private library context with RC2, single DES and other legacy algorithms. The process's default context is not
/// changed.
@safe struct LegacyLibrary: ~Copyable {
    let pointer: OpaquePointer
    private let standard: OpaquePointer
    private let legacy: OpaquePointer

    /// Loads both providers.
    ///
    /// - Parameter folder: The folder of the legacy provider; `nil` means OpenSSL's built-in path.
    /// - Throws: `credentials(.legacyProviderMissing)`, whose hint names the package to install.
    init(folder: String? = nil) throws(TLSError) {
        LibraryErrors.clear()
        guard let context = unsafe OSSL_LIB_CTX_new() else { throw LibraryErrors.drain().asFailure() }
        if let folder { _ = unsafe OSSL_PROVIDER_set_default_search_path(context, folder) }
        let standard = unsafe OSSL_PROVIDER_load(context, "default")
        let legacy = unsafe OSSL_PROVIDER_load(context, "legacy")
        guard let standard = unsafe standard, let legacy = unsafe legacy else {
            if let standard = unsafe standard { unsafe OSSL_PROVIDER_unload(standard) }
            if let legacy = unsafe legacy { unsafe OSSL_PROVIDER_unload(legacy) }
            unsafe OSSL_LIB_CTX_free(context)
            LibraryErrors.clear()
            throw .legacyProviderMissing
        }
        unsafe (pointer, self.standard, self.legacy) = unsafe (context, standard, legacy)
    }

    deinit {
        unsafe OSSL_PROVIDER_unload(legacy)
        unsafe OSSL_PROVIDER_unload(standard)
        unsafe OSSL_LIB_CTX_free(pointer)
    }

    /// Returns a copy of `key` in the default context, which outlives this one.
    func moved(_ key: borrowing KeyHandle) throws(TLSError) -> KeyHandle {
        LibraryErrors.clear()
        guard let plain = unsafe EVP_PKEY2PKCS8(key.pointer) else { throw LibraryErrors.drain().asFailure() }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(plain) }
        guard let moved = unsafe EVP_PKCS82PKEY(plain) else { throw LibraryErrors.drain().asFailure() }
        return unsafe KeyHandle(adopting: moved)
    }

    /// Returns a copy of `certificate` in the default context.
    func moved(_ certificate: OpaquePointer) throws(TLSError) -> CertificateHandle {
        LibraryErrors.clear()
        var der: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(certificate, &der)
        guard count > 0, let der = unsafe der else { throw LibraryErrors.drain().asFailure() }
        defer { unsafe CRYPTO_free(der, nil, 0) }
        var start: UnsafePointer<UInt8>? = unsafe UnsafePointer(der)
        guard let moved = unsafe d2i_X509(nil, &start, CLong(count)) else { throw LibraryErrors.drain().asFailure() }
        return unsafe CertificateHandle(adopting: moved)
    }
}
