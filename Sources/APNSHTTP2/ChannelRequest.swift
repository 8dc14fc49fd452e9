package import APNSModel
package import HTTP2
import PushModel

/// A request to the channel management of an app (Apple, "Sending channel management requests to APNs").
package enum ChannelRequest: Hashable, Sendable {
    /// Creates a channel. Each repetition creates another one.
    case create(MessageStoragePolicy)
    /// Reads what a channel stores.
    case read(ChannelID)
    /// Deletes a channel for good.
    case delete(ChannelID)
    /// Lists the ids of all channels of the app in one environment, at most 10,000.
    case list

    /// The part of the `:path` before the app's bundle identifier.
    package static let path = "/1/apps/"
    /// The parts of the `:path` after it: for one channel, and for the list.
    package static let (onePath, listPath) = ("/channels", "/all-channels")
    /// The members of the body that creates a channel, and of the one that tells its properties.
    package static let (policyKey, pushTypeKey) = ("message-storage-policy", "push-type")
    /// The only push type that channels have.
    package static let pushType = "LiveActivity"

    /// The value of `:method`.
    package var method: String {
        switch self {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    /// The value of `:path` for the app with this bundle identifier.
    package func path(of app: String) -> String {
        Self.path + app + (self == .list ? Self.listPath : Self.onePath)
    }

    /// Whether a repetition has the same effect as one request (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .create: false
        case .read, .delete, .list: true
        }
    }

    /// The body; empty if the request has none.
    package var body: [UInt8] {
        guard case .create(let policy) = self else { return [] }
        return Array("{\"\(Self.policyKey)\":\(policy.rawValue),\"\(Self.pushTypeKey)\":\"\(Self.pushType)\"}".utf8)
    }

    /// Builds the head. The sender's `app` is the bundle identifier.
    package func head(from sender: RequestFields.Sender) -> RequestHead {
        var fields = [
            RequestHead.Field(":method", .text(method)),
            RequestHead.Field(":scheme", .text("https")),
            RequestHead.Field(":authority", .text(sender.authority), kept: .field),
            RequestHead.Field(":path", .text(path(of: sender.app ?? ""))),
        ]
        if let authorization = sender.authorization {
            fields.append(RequestHead.Field("authorization", .text(authorization), kept: .field))
        }
        switch self {
        case .create: fields.append(RequestHead.Field("content-length", .text(String(body.count))))
        case .read(let id), .delete(let id):
            fields.append(RequestHead.Field("apns-channel-id", .text(id.text)))
        case .list: break
        }
        return RequestHead(fields: fields)
    }
}
