package import FCMHTTP2
import LinuxIO
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

    /// The file for the account's tokens in a folder: `<project>-<16 digits of a hash over account and key>.token`.
    func file(in folder: Directory) -> TokenFile {
        let identity = Array("\(account.clientEmail)\n\(account.tokenURI)\n".utf8) + fingerprint
        let digits = Digest.digits(of: Digest.sha256(identity.span), byteCount: 8)
        let name = "\(account.projectID)-\(digits).token"
        return TokenFile(name, in: folder, byteLimit: AccessToken.byteLimit + 64)
    }

    /// The name of the account.
    package var description: String { account.description }

    /// Signs a request, and returns its body.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    func body(of request: AccessTokenRequest) throws(TLSError) -> [UInt8] {
        request.body(signature: try signer.sign(request.signingInput.span))
    }
}
