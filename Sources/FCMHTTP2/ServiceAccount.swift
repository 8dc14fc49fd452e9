/// A Google Cloud service account and the names of one of its keys. None of this is secret.
package struct ServiceAccount: Hashable, Sendable, CustomStringConvertible {
    /// The id of the account's project.
    package let projectID: String
    /// The account's name, `iss` of its assertions.
    package let clientEmail: String
    /// The key's name, `kid` of its assertions; `nil` if the file has none.
    package let privateKeyID: String?
    /// Where it gets access tokens.
    package let tokenURI: TokenURI

    /// Creates an account.
    package init(projectID: String, clientEmail: String, privateKeyID: String?, tokenURI: TokenURI) {
        (self.projectID, self.clientEmail) = (projectID, clientEmail)
        (self.privateKeyID, self.tokenURI) = (privateKeyID, tokenURI)
    }

    /// The account's name.
    package var description: String { "service account \(clientEmail)" }

    /// Whether a text can be a project's id or number, and so stand in a path. Ids have 6 to 30 letters, digits and
    /// hyphens; old ones begin with a domain and a colon.
    package static func isProject(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-.:_".utf8.contains($0)
            }
    }
}
