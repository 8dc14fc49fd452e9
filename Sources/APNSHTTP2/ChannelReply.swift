package import APNSModel
package import Document
package import PushHTTP2
import PushModel

/// The answer to a `ChannelRequest`.
package enum ChannelReply: Hashable, Sendable {
    /// The channel has been created.
    case created(ChannelID)
    /// What the channel stores; `nil` if the answer names a policy that is not in Apple's table.
    case properties(MessageStoragePolicy?)
    /// The channel is deleted.
    case deleted
    /// All channels of the app.
    case list([ChannelID])
    /// The request was refused.
    case refused(Reply)
    /// The status is that of success, but the answer lacks what Apple promises; the text names it.
    case unreadable(String)

    /// The longest body that is read, in bytes: a list of 10,000 ids of 200 bytes.
    package static let bodyLimit = 2 << 20

    /// The parts of a response that matter.
    package struct Response: Sendable {
        /// The HTTP status.
        package let status: Int
        /// The value of the header field `apns-channel-id`, if there is one.
        package let channel: ArraySlice<UInt8>?
        /// The complete body.
        package let body: ArraySlice<UInt8>

        /// Creates a response.
        package init(status: Int, channel: ArraySlice<UInt8>?, body: ArraySlice<UInt8>) {
            (self.status, self.channel, self.body) = (status, channel, body)
        }
    }

    /// Parses the response to a request.
    package init(_ response: Response, to request: ChannelRequest, parser: inout some DocumentParser) {
        let body = response.body
        guard (200..<300).contains(response.status) else {
            self = .refused(Reply(status: response.status, body: body, parser: &parser))
            return
        }
        switch request {
        case .create:
            let id = response.channel.flatMap { ChannelID(String(decoding: $0, as: UTF8.self)) }
            self = id.map(Self.created) ?? .unreadable("it has no apns-channel-id that is base64")
        case .delete: self = .deleted
        case .read: self = Self.properties(in: body, parser: &parser)
        case .list: self = Self.list(in: body, parser: &parser)
        }
    }

    private static func properties(in body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> ChannelReply {
        let policy = parser.document(in: body, limit: bodyLimit)?.root[ChannelRequest.policyKey]
        guard let policy else { return .unreadable("it has no \(ChannelRequest.policyKey)") }
        return .properties(policy.integer.flatMap { MessageStoragePolicy(rawValue: $0) })
    }

    private static func list(in body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> ChannelReply {
        guard let list = parser.document(in: body, limit: bodyLimit)?.root["channels"], list.kind == .sequence else {
            return .unreadable("it has no array `channels`")
        }
        var ids: [ChannelID] = []
        for item in list.elements {
            guard let id = item.string.flatMap({ ChannelID($0) }) else {
                return .unreadable("element \(ids.count) of `channels` is not a base64 id")
            }
            ids.append(id)
        }
        return .list(ids)
    }
}
