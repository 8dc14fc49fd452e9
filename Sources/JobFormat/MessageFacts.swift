import APNSModel
import Document
import FCMModel
import PushModel

/// The facts about a member of an FCM message that the delivery rules need.
struct MessageFacts: Hashable, Sendable {
    /// The bytes of the strings in `notification`.
    var textByteCount = 0
    /// The bytes of the keys and values in `data`, here or for Android.
    var dataByteCount: Int?
    /// How long FCM stores the message for Android.
    var ttl: Duration?
    /// The priority for Android.
    var priority: Priority?
    /// The collapse key for Android.
    var collapseKey: String?
    /// The header of the request to Apple or to a web push service that sets an expiration.
    var expiration: String?

    /// The facts of a value that was made of shorthands.
    init(textByteCount: Int = 0, dataByteCount: Int? = nil) {
        (self.textByteCount, self.dataByteCount) = (textByteCount, dataByteCount)
    }

    /// The facts of a member's value as the user wrote it.
    init(of key: JobKey?, _ node: Node) {
        switch key {
        case .notification: textByteCount = node.members.reduce(0) { $0 + $1.value.bytes.count }
        case .data: dataByteCount = Self.byteCount(ofData: node)
        case .android: readAndroid(node, .androidConfig)
        case .androidV2: readAndroid(node, .androidConfigV2)
        case .apns: expiration = Self.header("apns-expiration", in: MessageType.apnsConfig.value("headers", in: node))
        case .webpush: expiration = Self.header("ttl", in: MessageType.webpushConfig.value("headers", in: node))
        default: break
        }
    }

    private mutating func readAndroid(_ node: Node, _ type: MessageType) {
        // An empty mapping is as good as none: the message's data stands.
        dataByteCount = type.value("data", in: node).flatMap { $0.count == 0 ? nil : Self.byteCount(ofData: $0) }
        ttl = type.value("ttl", in: node).flatMap { WireDuration.parse($0.bytes) }
        collapseKey = type.value("collapse_key", in: node)?.text
        switch type.value("priority", in: node)?.text.uppercased() {
        case "HIGH": priority = .immediate
        case "NORMAL": priority = .powerSaving
        default: break
        }
    }

    private static func byteCount(ofData node: Node) -> Int {
        node.members.reduce(0) { $0 + $1.key.bytes.count + $1.value.bytes.count }
    }

    /// Returns the text of a header field, whose name has any case.
    private static func header(_ name: String, in headers: Node?) -> String? {
        headers?.members.first { $0.key.text.lowercased() == name }?.value.text
    }
}
