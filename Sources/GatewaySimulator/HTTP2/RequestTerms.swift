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

    /// Returns the key that a provider token names, if the token's signature was made with it.
    func key(behind token: SignedProviderToken) -> RegisteredKey? {
        let identity = token.token.identity
        for (key, verifier) in zip(rules.keys, verifiers)
        where key.keyID == identity.keyID && key.teamID == identity.teamID {
            return verifier.accepts(token.signature, of: token.signingInput.span) ? key : nil
        }
        return nil
    }
}
