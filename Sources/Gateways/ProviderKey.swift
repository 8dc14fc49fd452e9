package import APNSHTTP2
package import OpenSSL
import PushModel

/// A key that signs provider tokens, and the names of its owner.
package final class ProviderKey: Sendable, CustomStringConvertible {
    /// Identifies a key. The names alone do not suffice, since the wrong file may be configured for them.
    package struct ID: Hashable, Sendable {
        /// The names of key and team.
        package let identity: ProviderIdentity
        /// SHA-256 of the public key.
        package let fingerprint: [UInt8]
    }

    /// The names of key and team.
    package let identity: ProviderIdentity
    private let signer: ES256Signer
    private let verifier: ES256Verifier

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - identity: The names of key and team.
    ///   - p8: The content of Apple's `.p8` file.
    /// - Throws: `TLSError` of category `credentials`. Report it to the user; message and hint name what to change.
    package init(_ identity: ProviderIdentity, p8: [UInt8]) throws(TLSError) {
        self.identity = identity
        self.signer = try ES256Signer(p8: p8)
        self.verifier = try signer.verifier()
    }

    /// The identity of the key: equal for the same key under the same names.
    package var id: ID { ID(identity: identity, fingerprint: signer.fingerprint) }

    /// The names of key and team.
    package var description: String { identity.description }

    /// Signs a token.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
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
