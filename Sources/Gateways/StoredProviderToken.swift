import APNSHTTP2
import JSON
import LinuxIO
import OpenSSL

/// The content of a file with a provider token: a line with the token and, if a gateway called the previous token expired, a
/// line `replacement`. The signature proves that the token is the key's, so the file needs no other check.
struct StoredProviderToken: Sendable {
    /// Why the content of a file is not a token of the key. Quotes nothing of it.
    struct Unusable: Error {
        let reason: String
    }

    private static let mark = "replacement"

    let token: ProviderToken
    let isReplacement: Bool

    init(_ token: ProviderToken, isReplacement: Bool) { (self.token, self.isReplacement) = (token, isReplacement) }

    /// Parses the content of a file. The token may be of any age.
    init(_ bytes: [UInt8], of key: ProviderKey) throws(Unusable) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var parser = JSON.Parser()
        guard bytes.last == UInt8(ascii: "\n"), let signed = ProviderToken.parse(lines[0], parser: &parser) else {
            throw Unusable(reason: "truncated, or not a token")
        }
        guard key.hasSigned(signed) else { throw Unusable(reason: "signed with another key") }
        self.init(signed.token, isReplacement: lines[1].elementsEqual(Self.mark.utf8))
    }

    /// The content of the file.
    var bytes: [UInt8] { Array("\(token.text)\n\(isReplacement ? Self.mark + "\n" : "")".utf8) }
}

extension ProviderKey {
    /// The file for the key's tokens in a folder: `<key id>-<team id>-<8 digits of the key's fingerprint>.jwt`.
    func file(in folder: Directory) -> TokenFile {
        let digits = Digest.digits(of: id.fingerprint, byteCount: 4)
        let name = "\(identity.keyID)-\(identity.teamID)-\(digits).jwt"
        return TokenFile(name, in: folder, byteLimit: ProviderToken.byteLimit + 64)
    }
}
