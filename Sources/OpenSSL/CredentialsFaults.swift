extension TLSError {
    static func keyMismatch(certificate: String) -> TLSError {
        TLSError(
            .credentials(.keyMismatch), "the private key does not belong to certificate \"\(certificate)\"",
            hint: "use the key the certificate was requested with; on a Mac export both together from the keychain")
    }

    static func noPrivateKey(for certificate: String) -> TLSError {
        TLSError(
            .credentials(.noPrivateKey), "no private key for certificate \"\(certificate)\"",
            hint: "add the key to the file, or name its file with `key:`; in a keychain export the certificate and"
                + " its key together")
    }

    static let passphraseNeeded = TLSError(
        .credentials(.passphraseNeeded), "the private key is encrypted, but no passphrase is set",
        hint: "put the passphrase in a separate file, and set `passphrase_file:` to it")

    static let wrongPassphrase = TLSError(
        .credentials(.wrongPassphrase), "the passphrase does not open the private key",
        hint: "check the content of `passphrase_file:`; only one line ending at its end is ignored")

    static let legacyProviderMissing = TLSError(
        .credentials(.legacyProviderMissing),
        "the file has old encryption (RC2 or single DES), and OpenSSL's legacy provider is not installed",
        hint: "install it (Debian, Ubuntu: package openssl-provider-legacy or libssl3; Fedora: openssl-libs), or export"
            + " the file again with AES")

    static let noMAC = TLSError(
        .credentials(.unreadable),
        "the PKCS#12 file has no MAC, without which OpenSSL does not open it with a passphrase",
        hint:
            "export it again, or convert it: openssl pkcs12 -nomacver -noenc -in FILE -out FILE.pem; then chmod 600 FILE.pem,"
            + " and name it with `certificate:`")

    static func oldKeyEncryption(_ errors: LibraryErrors) -> TLSError {
        TLSError(
            .credentials(.unreadable),
            "the private key in the PKCS#12 file has an encryption that is not supported: \(errors.text)",
            hint: "export it again with AES, or convert it: openssl pkcs12 -legacy -noenc -in FILE -out FILE.pem; then"
                + " chmod 600 FILE.pem, and name it with `certificate:`")
    }

    static func unreadable(_ what: String, _ errors: LibraryErrors) -> TLSError {
        TLSError(
            .credentials(.unreadable), "\(what) cannot be read: \(errors.text)",
            hint: "get a new copy of the file; it may be truncated or changed")
    }

    static func mistaken(_ message: String, hint: String) -> TLSError {
        TLSError(.credentials(.mistakenFile), message, hint: hint)
    }
}
