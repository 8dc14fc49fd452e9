import APNSHTTP2
import OpenSSL

/// The rules for requests, with their keys made ready.
struct RequestTerms: Sendable {
    let rules: RequestRules
    private let verifiers: [ES256Verifier]

    /// The rules of a strict gateway that knows no key.
    init() {
        rules = RequestRules()
        verifiers = []
    }

    /// Reads the keys.
    ///
    /// - Throws: `SimulatorFault`: one of them is none.
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

    /// The key that a provider token names, if it made the signature.
    func key(behind token: SignedProviderToken) -> RegisteredKey? {
        let identity = token.token.identity
        for (key, verifier) in zip(rules.keys, verifiers)
        where key.keyID == identity.keyID && key.teamID == identity.teamID {
            return verifier.accepts(token.signature, of: token.signingInput.span) ? key : nil
        }
        return nil
    }
}
