/// Why the certificate of a peer was not accepted.
package enum CertificateFault: Hashable, Sendable {
    /// No authority that we trust issued it.
    case untrusted
    /// It is for another host.
    case nameMismatch
    /// Its time is over.
    case expired
    /// Its time has not come, or this machine's clock is behind.
    case notYetValid
    /// The peer showed none although one is required.
    case missing
    /// It does not fit the purpose: weak key, wrong usage, broken signature, revoked.
    case unsuitable
}

/// Why credentials of our own cannot be used.
package enum CredentialsFault: Hashable, Sendable {
    /// The private key or the container is encrypted and no passphrase was given.
    case passphraseNeeded
    /// The passphrase does not open it.
    case wrongPassphrase
    /// No certificate is in the file.
    case noCertificate
    /// No private key is in the file.
    case noPrivateKey
    /// The private key belongs to another certificate.
    case keyMismatch
    /// The file is of another kind: a token key, a signing request, DER, PKCS#12 for PEM or the reverse.
    case mistakenFile
    /// The certificate's time is over.
    case expired
    /// The certificate's time has not come.
    case notYetValid
    /// The container uses old encryption and OpenSSL's legacy provider is not installed.
    case legacyProviderMissing
    /// The file is damaged, or uses what this OpenSSL does not know.
    case unreadable
    /// The key is shorter than, or the signature older than, this system's security level allows.
    case tooWeak
}
