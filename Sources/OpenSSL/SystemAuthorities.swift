import COpenSSL

/// The authorities that this system trusts, read once per process: a parsed bundle takes a megabyte, and the daemon has
/// a context for each app.
///
/// Sendable: OpenSSL locks the store, and this one is not changed after `init`.
@safe struct SystemAuthorities: @unchecked Sendable {
    static let shared = SystemAuthorities()
    /// `nil` if the system's files cannot be read.
    let store: OpaquePointer?

    private init() {
        LibraryErrors.clear()
        let store = unsafe X509_STORE_new()
        let isRead = unsafe store != nil && X509_STORE_set_default_paths(store) == 1
        if !isRead { unsafe X509_STORE_free(store) }
        unsafe self.store = isRead ? store : nil
        LibraryErrors.clear()
    }
}
