import Document
package import PushModel

extension SpoolStatus {
    /// An app's credentials and their expiry, without secrets.
    package struct Credentials: Hashable, Sendable {
        /// The kinds of credentials.
        package enum Kind: String, CaseIterable, Hashable, Sendable {
            /// A certificate as PEM.
            case certificate
            /// A certificate in a PKCS#12 container.
            case pkcs12
            /// A key that signs provider tokens.
            case token
            /// A Google service account.
            case serviceAccount = "service_account"
        }

        /// The kind.
        package let kind: Kind
        /// The topics of the certificate; empty for other credentials.
        package var topics: [String] = []
        /// The last second in which the certificate is valid; `nil` for a key, which does not expire.
        package var notAfter: WallTime?
        /// How many whole days were left when the status was written; negative after expiry.
        package var daysLeft: Int?

        /// Creates credentials of a kind.
        package init(kind: Kind) {
            self.kind = kind
        }
    }
}

extension SpoolStatus.Credentials {
    /// Reads credentials; `nil` if their kind is unknown.
    init?(_ node: Node) {
        guard let kind = node["kind"]?.string.flatMap(Kind.init(rawValue:)) else { return nil }
        self.init(kind: kind)
        topics = node["topics"]?.elements.compactMap(\.string) ?? []
        notAfter = node["not_after"]?.string.flatMap { WallTime(rfc3339: $0) }
        daysLeft = node["days_left"]?.integer
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kind", kind.rawValue)
        if !topics.isEmpty {
            writer.key("topics")
            writer.beginArray()
            for topic in topics { writer.string(topic) }
            writer.endArray()
        }
        writer.member("not_after", notAfter?.rfc3339)
        if let daysLeft { writer.member("days_left", daysLeft) }
        writer.endObject()
    }
}
