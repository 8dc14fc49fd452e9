/// The content of a certificate.
package struct CertificateFacts: Hashable, Sendable {
    /// The subject's common name.
    package let commonName: String?
    /// The subject's user identifier: the topic, in Apple's push certificates.
    package let userID: String?
    /// The issuer's common name, or its organization, or its whole name.
    package let issuer: String
    /// The first second of validity, since 1970-01-01T00:00:00Z.
    package let notBefore: Int64
    /// The last second of validity, since 1970-01-01T00:00:00Z.
    package let notAfter: Int64
    /// SHA-256 of the DER form, 32 bytes.
    package let fingerprint: [UInt8]
    /// SHA-256 of the public key, 32 bytes. It stays the same when the certificate is renewed with the same key.
    package let publicKeyFingerprint: [UInt8]
    /// The DNS names and IP addresses of the subject alternative name extension.
    package let alternativeNames: [String]
    /// Whether it is valid for Apple's sandbox (extension 1.2.840.113635.100.6.3.1).
    package let isForSandbox: Bool
    /// Whether it is valid for Apple's production gateways (extension 1.2.840.113635.100.6.3.2).
    package let isForProduction: Bool
    /// The topics of extensions 1.2.840.113635.100.6.3.6 and .4, without duplicates, in their order; empty if there are
    /// none.
    package let topics: [String]

    /// A name for messages: the common name, or a substitute if it has none.
    package var displayName: String { commonName ?? userID ?? alternativeNames.first ?? "unnamed" }

    /// All topics it is valid for: those of the extensions, else the user identifier.
    package var allTopics: [String] { topics.isEmpty ? userID.map { [$0] } ?? [] : topics }

    /// Whether it is valid at `seconds` since 1970-01-01T00:00:00Z.
    package func isValid(at seconds: Int64) -> Bool { notBefore <= seconds && seconds <= notAfter }
}

extension CertificateFacts {
    /// Returns the topics in the value of one of Apple's extensions: either one topic alone, or a SEQUENCE in which
    /// each topic, a UTF8String, is followed by a SEQUENCE of its uses (`app`, `voip`, `complication`). Malformed parts
    /// are skipped, and so is the NULL that extension .4 usually holds.
    static func topics(inExtension value: [UInt8]) -> [String] {
        var outer = DERReader(value[...])
        guard let list = outer.next() else { return [] }
        var elements = DERReader(list.tag == DERReader.sequence ? list.content : value[...])
        var topics: [String] = []
        while let element = elements.next() {
            guard element.tag == DERReader.utf8String else { continue }
            if let topic = String(validating: element.content, as: UTF8.self) { topics.append(topic) }
        }
        return topics
    }
}

/// The object identifiers of Apple's certificate extensions.
enum AppleExtension {
    static let sandbox = "1.2.840.113635.100.6.3.1"
    static let production = "1.2.840.113635.100.6.3.2"
    static let topics = "1.2.840.113635.100.6.3.6"
    /// A second topics extension, which Apple documents for `voip`.
    static let furtherTopics = "1.2.840.113635.100.6.3.4"
}
