/// Why a peer's certificate was not accepted.
package enum CertificateFault: Hashable, Sendable {
    /// No trusted authority issued it.
    case untrusted
    /// It is for another host.
    case nameMismatch
    /// It has expired.
    case expired
    /// It is not valid yet, or this machine's clock is slow.
    case notYetValid
    /// The peer sent none although one is required.
    case missing
    /// It is unsuitable: weak key, wrong usage, broken signature, revoked.
    case unsuitable
}

/// Why our own credentials cannot be used.
package enum CredentialsFault: Hashable, Sendable {
    /// The private key or the container is encrypted and no passphrase was given.
    case passphraseNeeded
    /// The passphrase is wrong.
    case wrongPassphrase
    /// The file has no certificate.
    case noCertificate
    /// The file has no private key.
    case noPrivateKey
    /// The private key belongs to another certificate.
    case keyMismatch
    /// The file is of another kind: a token key, a signing request, DER, PKCS#12 instead of PEM or the reverse.
    case mistakenFile
    /// The certificate has expired.
    case expired
    /// The certificate is not valid yet.
    case notYetValid
    /// The container uses old encryption and OpenSSL's legacy provider is not installed.
    case legacyProviderMissing
    /// The file is damaged, or uses a feature that this OpenSSL does not support.
    case unreadable
    /// The key is shorter, or the signature older, than this system's security level allows.
    case tooWeak
}
