package import APNSModel
package import HTTP2

/// The header fields of a run of notifications that share their attributes (Apple, "Sending notification requests to
/// APNs").
///
/// All that stays the same from request to request is kept in the peer's table, the provider token included: Apple's two
/// pages differ about that one, the newer allows it, and it saves 190 bytes of 300. Of id, expiration and collapse id the
/// names are kept, as Apple says, and the path is not. `content-type` is not sent: it is not in Apple's table, and what
/// is not in there is ignored. Nor is `content-length`, but a client should send it (RFC 9110 §8.6), and proxies answer 411
/// without; its name is in the static table, and no value of it is kept, as they would push out others.
package enum RequestFields {
    /// What does not depend on the notification. Never prints the authorization.
    package struct Sender: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// The gateway's host: the value of `:authority`.
        package var authority: String
        /// The app's bundle identifier, for notifications that name no topic; `nil`: the certificate has only one.
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

        /// Shows a dump no more than a log.
        package var customMirror: Mirror { Mirror(self, children: ["authority": authority]) }
    }

    /// The number of the hole for the digits of the device token, two a byte.
    package static let tokenHole = 0
    /// The number of the hole for `apns-id`.
    package static let idHole = 1
    /// The number of the hole for `content-length`.
    package static let lengthHole = 2
    /// How many bytes `apns-id` has.
    package static let idByteCount = 36

    /// What comes before the token in `:path`.
    package static let path = "/3/device/"

    /// What the holes of a head are made for: how many bytes there are of a token, and digits of the payload's length.
    package struct Measures: Hashable, Sendable {
        /// How many bytes the token has.
        package let tokenByteCount: Int
        /// How many digits the length of the payload has.
        package let lengthDigitCount: Int

        /// Measures a notification.
        package init(tokenByteCount: Int, payloadByteCount: Int) {
            self.tokenByteCount = tokenByteCount
            var (count, rest) = (1, payloadByteCount / 10)
            while rest > 0 { (count, rest) = (count + 1, rest / 10) }
            lengthDigitCount = count
        }
    }

    /// The head of notifications with these attributes and measures.
    package static func head(_ attributes: Attributes, _ measures: Measures, from sender: Sender) -> RequestHead {
        var fields = [
            RequestHead.Field(":method", .text("POST"), kept: .field),
            RequestHead.Field(":scheme", .text("https"), kept: .field),
            RequestHead.Field(":authority", .text(sender.authority), kept: .field),
            RequestHead.Field(":path", .hole(prefix: Array(path.utf8), byteCount: 2 * measures.tokenByteCount)),
        ]
        if let authorization = sender.authorization {
            fields.append(RequestHead.Field("authorization", .text(authorization), kept: .field))
        }
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

    /// The value of `apns-topic`: the notification's own, or that of the sender's app for this type of push.
    package static func topic(_ attributes: Attributes, from sender: Sender) -> String? {
        attributes.topic ?? sender.app.map { PushTopic.topic(for: attributes.pushType, app: $0) }
    }
}
