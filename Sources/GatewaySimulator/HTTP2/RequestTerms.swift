import APNSHTTP2
import OpenSSL

/// The rules for requests, with their keys parsed.
struct RequestTerms: Sendable {
    let rules: RequestRules
    private let verifiers: [ES256Verifier]

    /// Creates the rules of a strict gateway without keys.
    init() {
        rules = RequestRules()
        verifiers = []
    }

    /// Parses the keys.
    ///
    /// - Throws: `SimulatorFault` if one of them is not a valid key.
    init(_ rules: RequestRules) throws(SimulatorFault) {
        self.rules = rules
        var verifiers: [ES256Verifier] = []
        for key in rules.keys {
            do throws(TLSError) {
                verifiers.append(try ES256Verifier(publicKey: key.publicKey))
            } catch {
                throw SimulatorFault("key \(key.keyID): \(error.message)", hint: error.hint)
            }
        }
        self.verifiers = verifiers
    }

    /// Returns the place among the keys of the one that a provider token names, if the token's signature was made with it.
    func place(ofKeyBehind token: SignedProviderToken) -> Int? {
        let identity = token.token.identity
        guard let place = rules.keys.firstIndex(where: { $0.keyID == identity.keyID && $0.teamID == identity.teamID })
        else { return nil }
        return verifiers[place].accepts(token.signature, of: token.signingInput.span) ? place : nil
    }

    /// Returns the topics of the key at a place; empty if it may push for any app.
    func topics(ofKey place: Int?) -> Set<String> {
        guard let place, rules.keys.indices.contains(place) else { return [] }
        return rules.keys[place].topics
    }
}
