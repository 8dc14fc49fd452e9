package import FCMHTTP2
package import OpenSSL

/// A key of a service account, which signs the account's requests for access tokens.
package final class ServiceAccountKey: Sendable, CustomStringConvertible {
    /// The account that the key belongs to, and where it gets tokens.
    package let account: ServiceAccount
    private let signer: RS256Signer

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - privateKey: The member `private_key` of its file.
    /// - Throws: `TLSError` of category `credentials`. Report it to the user; message and hint name what to change.
    package init(_ account: ServiceAccount, privateKey: [UInt8]) throws(TLSError) {
        self.account = account
        self.signer = try RS256Signer(pem: privateKey)
    }

    /// SHA-256 of the public key.
    var fingerprint: [UInt8] { signer.fingerprint }

    /// The name of the account.
    package var description: String { account.description }

    /// Signs a request, and returns its body.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    func body(of request: AccessTokenRequest) throws(TLSError) -> [UInt8] {
        request.body(signature: try signer.sign(request.signingInput.span))
    }
}
