import APNSModel
package import HTTP2
package import PushModel

/// The header fields of a run of notifications that share their attributes (Apple, "Sending notification requests to
/// APNs").
///
/// Every field that is the same in all requests is indexed in the peer's table, including the provider token: Apple's
/// two pages differ about it, the newer one allows it, and it saves 190 bytes of 300. For id, expiration and collapse
/// id only the names are indexed, as Apple asks; the path is not. `content-type` is not sent, because it is not in
/// Apple's table and fields outside the table are ignored. `content-length` is not in that table either, but a client
/// should send it (RFC 9110 §8.6), and proxies answer 411 without it. Its name is in the static table. Its values are
/// not indexed, because they would evict others.
package enum RequestFields {
    /// The part that does not depend on the notification. Never prints the authorization.
    package struct Sender: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// The gateway's host: the value of `:authority`.
        package var authority: String
        /// The app's bundle identifier, for notifications without a topic; `nil` if the certificate has only one topic.
        package var app: String?
        /// The value of `authorization`; `nil` with a certificate. A secret.
        package var authorization: String?

        /// Creates a sender.
        package init(authority: String, app: String? = nil, authorization: String? = nil) {
            self.authority = authority
            self.app = app
            self.authorization = authorization
        }

        /// The app and the host.
        package var description: String { "\(app ?? "an app") at \(authority)" }

        /// Hides the authorization from `dump`.
        package var customMirror: Mirror { Mirror(self, children: ["authority": authority]) }
    }

    /// The index of the hole for the device token, two digits per byte.
    package static let tokenHole = 0
    /// The index of the hole for `apns-id`.
    package static let idHole = 1
    /// The index of the hole for `content-length`.
    package static let lengthHole = 2
    /// The length of `apns-id`, in bytes.
    package static let idByteCount = 36

    /// The part of `:path` before the token.
    package static let path = "/3/device/"

    /// The sizes of a head's holes: the bytes of the token, and the digits of the payload's length.
    package struct Measures: Hashable, Sendable {
        /// The length of the token, in bytes.
        package let tokenByteCount: Int
        /// The number of digits of the payload's length.
        package let lengthDigitCount: Int

        /// Measures a notification.
        package init(tokenByteCount: Int, payloadByteCount: Int) {
            self.tokenByteCount = tokenByteCount
            lengthDigitCount = RequestHead.digitCount(of: payloadByteCount)
        }
    }

    /// The part of the `:path` of broadcasts before the app's bundle identifier.
    package static let broadcastPath = "/4/broadcasts/apps/"

    /// Builds the head of notifications with these attributes and measures. `channel` is the id that a broadcast goes to.
    package static func head(
        _ attributes: Attributes, channel: String? = nil, _ measures: Measures, from sender: Sender
    ) -> RequestHead {
        if let channel { return head(attributes, to: channel, measures, from: sender) }
        var fields = opening(
            .hole(prefix: Array(path.utf8), byteCount: 2 * measures.tokenByteCount), from: sender)
        if let topic = topic(attributes, from: sender) {
            fields.append(RequestHead.Field("apns-topic", .text(topic), kept: .field))
        }
        fields.append(RequestHead.Field("apns-push-type", .text(attributes.pushType.rawValue), kept: .field))
        fields.append(RequestHead.Field("apns-priority", .text(String(attributes.priority.rawValue)), kept: .field))
        fields.append(RequestHead.Field("apns-id", .hole(byteCount: idByteCount), kept: .name))
        fields.append(
            RequestHead.Field("apns-expiration", .text(String(attributes.expiration.epochSeconds)), kept: .name))
        fields.append(RequestHead.Field("content-length", .hole(byteCount: measures.lengthDigitCount)))
        if let collapseID = attributes.collapseID {
            fields.append(RequestHead.Field("apns-collapse-id", .text(collapseID), kept: .name))
        }
        return RequestHead(fields: fields)
    }

    /// Builds the head of a broadcast (Apple, "Sending broadcast push notification requests to APNs"). It has no topic, and the
    /// bundle identifier in its path has no suffix. The hole for the token is empty.
    private static func head(
        _ attributes: Attributes, to channel: String, _ measures: Measures, from sender: Sender
    ) -> RequestHead {
        let path = broadcastPath + (sender.app ?? "")
        let fields =
            opening(.hole(prefix: Array(path.utf8), byteCount: 0), from: sender) + [
                RequestHead.Field("apns-channel-id", .text(channel), kept: .field),
                RequestHead.Field("apns-push-type", .text(attributes.pushType.rawValue), kept: .field),
                RequestHead.Field("apns-priority", .text(String(attributes.priority.rawValue)), kept: .field),
                RequestHead.Field("apns-request-id", .hole(byteCount: idByteCount), kept: .name),
                RequestHead.Field("apns-expiration", .text(String(attributes.expiration.epochSeconds)), kept: .name),
                RequestHead.Field("content-length", .hole(byteCount: measures.lengthDigitCount)),
            ]
        return RequestHead(fields: fields)
    }

    /// The first fields of every request: the pseudo-header fields (RFC 9113 §8.3.1) and the authorization.
    private static func opening(_ path: RequestHead.Value, from sender: Sender) -> [RequestHead.Field] {
        var fields = [
            RequestHead.Field(":method", .text("POST"), kept: .field),
            RequestHead.Field(":scheme", .text("https"), kept: .field),
            RequestHead.Field(":authority", .text(sender.authority), kept: .field),
            RequestHead.Field(":path", path),
        ]
        if let authorization = sender.authorization {
            fields.append(RequestHead.Field("authorization", .text(authorization), kept: .field))
        }
        return fields
    }

    /// The value of `apns-topic`: the notification's own topic, or that of the sender's app for the push type.
    package static func topic(_ attributes: Attributes, from sender: Sender) -> String? {
        attributes.topic ?? sender.app.map { PushTopic.topic(for: attributes.pushType, app: $0) }
    }
}
