/// The properties of a certificate that a `CertificateAuthority` issues.
package struct CertificatePlan: Hashable, Sendable {
    /// The permitted use of the certificate.
    package enum Purpose: Hashable, Sendable {
        /// A server with these DNS names and IPv4 or IPv6 addresses.
        case server(hosts: [String])
        /// A client.
        case client
        /// Issuing further certificates: for these DNS names and those below them only, or for any if there are none.
        case authority(hosts: [String])
    }

    /// The kind of key to create.
    package enum KeyKind: Hashable, Sendable {
        /// EC on the curve P-256.
        case p256
        /// RSA of 2048 bits, for programs that support no other kind.
        case rsa2048
    }

    /// The permitted use.
    package var purpose: Purpose
    /// The subject's common name, at most 64 characters.
    package var commonName: String
    /// The subject's user identifier: the topic of a push certificate.
    package var userID: String?
    /// Whether it has the extension for Apple's sandbox.
    package var isForSandbox = false
    /// Whether it has the extension for Apple's production gateways.
    package var isForProduction = false
    /// The topics of Apple's topics extension; empty for no extension.
    package var topics: [String] = []
    /// The topics of Apple's second topics extension; empty for no extension, `nil` for an extension that holds NULL.
    package var furtherTopics: [String]? = []
    /// The first and last second of validity, since 1970-01-01T00:00:00Z; `nil` means from an hour ago, for 90 days.
    package var validity: ClosedRange<Int64>?
    /// The kind of key to create.
    package var key = KeyKind.p256

    /// Plans a server certificate, named after its first host.
    package static func server(_ hosts: [String]) -> CertificatePlan {
        CertificatePlan(purpose: .server(hosts: hosts), commonName: hosts.first ?? "server")
    }

    /// Plans a client certificate.
    package static func client(_ commonName: String) -> CertificatePlan {
        CertificatePlan(purpose: .client, commonName: commonName)
    }

    /// Plans a push certificate as Apple issues them today: for one topic, valid in both environments.
    package static func push(topic: String) -> CertificatePlan {
        CertificatePlan(
            purpose: .client, commonName: "Apple Push Services: \(topic)".prefixed(64), userID: topic,
            isForSandbox: true, isForProduction: true, topics: [topic, topic + ".voip"])
    }

    /// The value of Apple's topics extension, as `CertificateFacts` reads it.
    var topicsExtension: [UInt8] { list(topics) }

    /// The value of the second topics extension.
    var furtherTopicsExtension: [UInt8] { furtherTopics.map { list($0) } ?? [0x05, 0x00] }

    private func list(_ topics: [String]) -> [UInt8] {
        let elements = topics.flatMap { topic in
            let use = topic.hasSuffix(".voip") ? "voip" : "app"
            return der(DERReader.utf8String, Array(topic.utf8))
                + der(DERReader.sequence, der(DERReader.utf8String, Array(use.utf8)))
        }
        return der(DERReader.sequence, elements)
    }

    /// Encodes one element with the shortest form of its length.
    private func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}

extension String {
    fileprivate func prefixed(_ count: Int) -> String { String(prefix(count)) }
}
