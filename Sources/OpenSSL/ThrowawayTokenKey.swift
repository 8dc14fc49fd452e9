import COpenSSL

/// A key for provider tokens made at run time, for tests, demonstrations and simulators.
package struct ThrowawayTokenKey: Sendable, CustomReflectable {
    /// Signs with it.
    package let signer: ES256Signer
    /// The private key as Apple hands it out: PKCS#8 as PEM text, not encrypted. A secret, if of something worthless.
    package let p8: [UInt8]
    /// The public key as PEM text.
    package let publicKeyPEM: [UInt8]

    /// Makes a key.
    ///
    /// - Throws: `TLSError` of category `library` when memory is out.
    package init() throws(TLSError) {
        LibraryErrors.clear()
        guard let pointer = unsafe shim_P256_key() else { throw LibraryErrors.drain().asFailure() }
        let key = unsafe KeyHandle(adopting: pointer)
        let bio = try MemoryBIO()
        guard unsafe PEM_write_bio_PKCS8PrivateKey(bio.pointer, key.pointer, nil, nil, 0, nil, nil) == 1 else {
            throw LibraryErrors.drain().asFailure()
        }
        p8 = bio.contents()
        signer = try ES256Signer(adopting: key)
        publicKeyPEM = try signer.publicKeyPEM()
    }

    /// Shows the public half alone.
    package var customMirror: Mirror { Mirror(self, children: ["signer": signer]) }
}
