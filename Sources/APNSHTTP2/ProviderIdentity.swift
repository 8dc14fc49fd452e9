/// The key and team that sign: `kid` and `iss` of provider tokens, ten letters and digits each.
package struct ProviderIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The length of each name (Apple, "Establishing a token-based connection to APNs").
    package static let characterCount = 10

    /// The key's id at the developer account.
    package let keyID: String
    /// The team's id.
    package let teamID: String

    /// Creates an identity.
    ///
    /// - Returns: `nil` unless both consist of ten ASCII letters and digits.
    package init?(keyID: String, teamID: String) {
        guard Self.isName(keyID), Self.isName(teamID) else { return nil }
        self.keyID = keyID
        self.teamID = teamID
    }

    /// `key ABC123DEFG of team DEF123GHIJ`; neither name is a secret.
    package var description: String { "key \(keyID) of team \(teamID)" }

    /// Whether a text has the form of a key id or team id.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count == characterCount
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
    }
}
