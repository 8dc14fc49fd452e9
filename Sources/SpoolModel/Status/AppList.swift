package import APNSModel
package import Document
import JobFormat
package import PushModel

/// What programs in front of the spool must know of a daemon's apps, without secrets: `.pushspool/public/<node>/apps.json`.
///
/// With it they can check a job as the daemon will. It stays when the daemon stops, because jobs may be dropped then too.
package struct AppList: Hashable, Sendable {
    /// The version in every file.
    package static let version = 1
    /// The name of the file.
    package static let fileName = "apps.json"

    /// An app whose configuration is in force.
    package struct App: Hashable, Sendable {
        /// The name of the app, and of its folder.
        package let name: String
        /// The protocol, and over the binary protocol the format.
        package let carrier: Carrier
        /// Whether the gateway is that of the sandbox; `nil` with FCM, which has none.
        package var isSandbox: Bool?
        /// The topic of jobs that name none, without the suffix of a push type; `nil`: every job names its own.
        package var topic: String?
        /// The kind of Apple's credentials, and what they permit; `nil` with FCM.
        package var identity: PushTopic.Identity?
        /// The broadcast channels by name.
        package var channels: [String: BroadcastChannel] = [:]
        /// Whether messages of FCM's may have fields that pushspool does not know.
        package var toleratesUnknownFields = false
        /// How notifications in doubt are treated unless a job says otherwise.
        package var onDoubt = OnDoubt.resend
        /// A digest over the rest of the configuration and the credentials, to compare nodes of a cluster; `nil` if the
        /// file does not have it.
        package var digest: String?

        /// Creates an app with all defaults: for APNs, in production with a provider token.
        package init(name: String, carrier: Carrier) {
            (self.name, self.carrier) = (name, carrier)
            if carrier != .fcm { (isSandbox, identity) = (false, .providerToken) }
        }
    }

    /// The name of the daemon's node.
    package var node: String
    /// The daemon's limits on documents.
    package var limits: DocumentLimits
    /// The mark of the spool, by which its doors recognize requests of its own daemons; `nil` if the file does not have it.
    package var mark: UInt32?
    /// Whether several daemons share the spool.
    package var isShared = false
    /// The apps, sorted by name.
    package var apps: [App] = []

    /// Creates a list without apps.
    package init(node: String, limits: DocumentLimits) {
        (self.node, self.limits) = (node, limits)
    }

    /// Reads the file; `nil` if it is not of this version.
    package init?(_ root: Node) {
        guard root["v"]?.integer == Self.version, let node = root["node"]?.string,
            let limits = root["limits"], let size = limits["document"]?.integer, let line = limits["line"]?.integer,
            let depth = limits["nesting"]?.integer, let apps = root["apps"]?.elements.map(App.init(_:))
        else { return nil }
        self.init(node: node, limits: DocumentLimits(byteCount: size, lineByteCount: line, depth: depth))
        mark = root["mark"]?.integer.flatMap { UInt32(exactly: $0) }
        isShared = root["cluster"]?.boolean ?? false
        self.apps = apps.compactMap { $0 }
        guard self.apps.count == apps.count else { return nil }
    }

    /// The content of the file: one JSON object and a line feed.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("v", Self.version)
        writer.member("node", node)
        if let mark { writer.member("mark", Int(mark)) }
        if isShared {
            writer.key("cluster")
            writer.boolean(true)
        }
        writer.key("limits")
        writer.beginObject()
        writer.member("document", limits.byteCount)
        writer.member("line", limits.lineByteCount)
        writer.member("nesting", limits.depth)
        writer.endObject()
        writer.key("apps")
        writer.beginArray()
        for app in apps { app.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension AppList.App {
    fileprivate init?(_ node: Node) {
        guard let name = node["app"]?.string, let word = node["carrier"]?.string,
            let carrier = Carrier.allCases.first(where: { $0.word == word }),
            let credentials = node["credentials"]?.string,
            let kind = SpoolStatus.Credentials.Kind(rawValue: credentials)
        else { return nil }
        self.init(name: name, carrier: carrier)
        isSandbox = node["environment"].map { $0.string == Self.sandbox }
        topic = node["topic"]?.string
        switch kind {
        case .token: identity = .providerToken
        case .certificate, .pkcs12:
            identity = .certificate(topics: node["topics"]?.elements.compactMap(\.string) ?? [])
        case .serviceAccount: identity = nil
        }
        for channel in node["channels"]?.elements.map({ $0 }) ?? [] {
            guard let name = channel["name"]?.string, let id = channel["id"]?.string.flatMap({ ChannelID($0) }) else {
                return nil
            }
            let policy = channel["policy"]?.integer.flatMap(MessageStoragePolicy.init(rawValue:))
            channels[name] = BroadcastChannel(id: id, policy: policy)
        }
        toleratesUnknownFields = node["tolerates_unknown_fields"]?.boolean ?? false
        digest = node["digest"]?.string
        onDoubt = node["on_doubt"]?.string.flatMap(OnDoubt.init(rawValue:)) ?? onDoubt
    }

    private static let sandbox = "sandbox"

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("app", name)
        writer.member("carrier", carrier.word)
        writer.member("environment", isSandbox.map { $0 ? Self.sandbox : "production" })
        writer.member("topic", topic)
        switch identity {
        case nil: writer.member("credentials", SpoolStatus.Credentials.Kind.serviceAccount.rawValue)
        case .providerToken: writer.member("credentials", SpoolStatus.Credentials.Kind.token.rawValue)
        case .certificate(let topics):
            writer.member("credentials", SpoolStatus.Credentials.Kind.certificate.rawValue)
            writer.key("topics")
            writer.beginArray()
            for topic in topics { writer.string(topic) }
            writer.endArray()
        }
        if toleratesUnknownFields {
            writer.key("tolerates_unknown_fields")
            writer.boolean(true)
        }
        writer.member("on_doubt", onDoubt.rawValue)
        writer.member("digest", digest)
        if !channels.isEmpty {
            writer.key("channels")
            writer.beginArray()
            for (name, channel) in channels.sorted(by: { $0.key < $1.key }) {
                writer.beginObject()
                writer.member("name", name)
                writer.member("id", channel.id.text)
                if let policy = channel.policy { writer.member("policy", policy.rawValue) }
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension Carrier {
    /// The word in the file.
    fileprivate var word: String {
        switch self {
        case .http2: "http2"
        case .fcm: "fcm"
        case .frame: "binary"
        case .enhanced: "binary-enhanced"
        case .simple: "binary-simple"
        }
    }
}
