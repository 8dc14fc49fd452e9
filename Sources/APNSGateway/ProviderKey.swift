package import APNSHTTP2
import APNSModel
package import OpenSSL

/// A key that provider tokens are signed with, and whose it is.
package struct ProviderKey: Sendable, CustomStringConvertible {
    /// What tells keys apart: names alone do not, when somebody mistakes one file for another.
    package struct ID: Hashable, Sendable {
        /// The names.
        package let identity: ProviderIdentity
        /// SHA-256 over the public key.
        package let fingerprint: [UInt8]
    }

    /// The names of key and team.
    package let identity: ProviderIdentity
    private let signer: ES256Signer
    private let verifier: ES256Verifier

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - identity: Its names.
    ///   - p8: The content of Apple's `.p8` file.
    /// - Throws: `TLSError` of category `credentials`: tell the user; message and hint name what to change.
    package init(_ identity: ProviderIdentity, p8: [UInt8]) throws(TLSError) {
        self.identity = identity
        self.signer = try ES256Signer(p8: p8)
        self.verifier = try signer.verifier()
    }

    /// The same for the same key under the same names.
    package var id: ID { ID(identity: identity, fingerprint: signer.fingerprint) }

    /// The names.
    package var description: String { identity.description }

    /// Signs a token.
    ///
    /// - Throws: `TLSError` of category `library` when memory is out.
    func sign(at time: WallTime) throws(TLSError) -> ProviderToken {
        let issuedAt = time.epochSeconds
        let input = ProviderToken.signingInput(identity: identity, issuedAt: issuedAt)
        return ProviderToken(identity: identity, issuedAt: issuedAt, signature: try signer.sign(input.span))
    }

    /// Whether this key signed the token, under these names.
    func hasSigned(_ signed: SignedProviderToken) -> Bool {
        signed.token.identity == identity && verifier.accepts(signed.signature, of: signed.signingInput.span)
    }
}
