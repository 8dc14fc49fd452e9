/// What a certificate says, as values.
package struct CertificateFacts: Hashable, Sendable {
    /// The subject's common name.
    package let commonName: String?
    /// The subject's user identifier: the topic, in Apple's push certificates.
    package let userID: String?
    /// The issuer's common name, or its organization, or all of its name.
    package let issuer: String
    /// First second of validity, since 1970-01-01T00:00:00Z.
    package let notBefore: Int64
    /// Last second of validity, since 1970-01-01T00:00:00Z.
    package let notAfter: Int64
    /// SHA-256 over the DER form, 32 bytes.
    package let fingerprint: [UInt8]
    /// DNS names and IP addresses of the subject alternative name extension.
    package let alternativeNames: [String]
    /// Whether it is good for Apple's sandbox (extension 1.2.840.113635.100.6.3.1).
    package let isForSandbox: Bool
    /// Whether it is good for Apple's production gateways (extension 1.2.840.113635.100.6.3.2).
    package let isForProduction: Bool
    /// The topics of extensions 1.2.840.113635.100.6.3.6 and .4, each once, in their order; empty when it has none.
    package let topics: [String]

    /// A name for messages: the common name, or the next best thing.
    package var displayName: String { commonName ?? userID ?? alternativeNames.first ?? "without a name" }

    /// All topics it is good for: those of the extension, else the user identifier.
    package var allTopics: [String] { topics.isEmpty ? userID.map { [$0] } ?? [] : topics }

    /// Whether its time includes `seconds` since 1970-01-01T00:00:00Z.
    package func isValid(at seconds: Int64) -> Bool { notBefore <= seconds && seconds <= notAfter }
}

extension CertificateFacts {
    /// Returns the topics in the value of one of Apple's extensions: a SEQUENCE in which each topic, a UTF8String, is
    /// followed by a SEQUENCE of the uses it has (`app`, `voip`, `complication`), or one topic alone. What is malformed
    /// is left out, and so is the NULL that extension .4 mostly holds.
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
    /// Apple names it beside the other, for `voip`.
    static let furtherTopics = "1.2.840.113635.100.6.3.4"
}
