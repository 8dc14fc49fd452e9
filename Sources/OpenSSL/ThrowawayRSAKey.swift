import COpenSSL

/// An RSA key of 2,048 bits created at run time, as a service account's: for tests, demonstrations and simulators.
package struct ThrowawayRSAKey: Sendable, CustomReflectable {
    /// The private key as Google issues it: PKCS#8 as unencrypted PEM text. A secret, although a worthless one.
    package let privateKeyPEM: [UInt8]
    /// The public key as PEM text.
    package let publicKeyPEM: [UInt8]

    /// Creates a key. Takes some 100 milliseconds.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package init() throws(TLSError) {
        LibraryErrors.clear()
        guard let pointer = unsafe shim_RSA_2048_key() else { throw LibraryErrors.drain().asFailure() }
        let key = unsafe KeyHandle(adopting: pointer)
        privateKeyPEM = try key.pkcs8PEM()
        publicKeyPEM = try key.publicKeyPEM()
    }

    /// Shows only the public half.
    package var customMirror: Mirror { Mirror(self, children: ["publicKeyPEM": publicKeyPEM]) }
}
