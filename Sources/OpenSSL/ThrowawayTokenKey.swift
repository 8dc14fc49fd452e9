import COpenSSL

/// A key for provider tokens created at run time, for tests, demonstrations and simulators.
package struct ThrowawayTokenKey: Sendable, CustomReflectable {
    /// The signer that uses it.
    package let signer: ES256Signer
    /// The private key as Apple issues it: PKCS#8 as unencrypted PEM text. A secret, although a worthless one.
    package let p8: [UInt8]
    /// The public key as PEM text.
    package let publicKeyPEM: [UInt8]

    /// Creates a key.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package init() throws(TLSError) {
        LibraryErrors.clear()
        guard let pointer = unsafe shim_P256_key() else { throw LibraryErrors.drain().asFailure() }
        let key = unsafe KeyHandle(adopting: pointer)
        p8 = try key.pkcs8PEM()
        signer = try ES256Signer(adopting: key)
        publicKeyPEM = try signer.publicKeyPEM()
    }

    /// Shows only the public half.
    package var customMirror: Mirror { Mirror(self, children: ["signer": signer]) }
}
