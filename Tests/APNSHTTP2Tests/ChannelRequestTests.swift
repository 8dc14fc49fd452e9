import APNSHTTP2
import APNSModel
import HTTP2
import JSON
import PushHTTP2
import PushModel
import TestSupport
import Testing

/// The requests of the channel management and their answers (Apple, "Sending channel management requests to APNs").
struct ChannelRequestTests {
    private static let id = ChannelID("dHN0LXNyY2gtY2hubA==" as Substring)

    private func fields(_ request: ChannelRequest, authorization: String? = "bearer x") -> [String] {
        let sender = RequestFields.Sender(
            authority: "api-manage-broadcast.push.apple.com:2196", app: "com.example.app", authorization: authorization)
        return request.head(from: sender).fields.map { field in
            guard case .text(let value) = field.value else { return "\(field.name): a hole" }
            return "\(field.name): \(String(decoding: value, as: UTF8.self))"
        }
    }

    @Test func `each request is what Apple's page shows`() throws {
        let id = try #require(Self.id)
        let host = [":scheme: https", ":authority: api-manage-broadcast.push.apple.com:2196"]
        let (one, all) = (":path: /1/apps/com.example.app/channels", ":path: /1/apps/com.example.app/all-channels")
        let (token, channel) = ("authorization: bearer x", "apns-channel-id: dHN0LXNyY2gtY2hubA==")
        #expect(
            fields(.create(.latest)) == [":method: POST"] + host + [one, token, "content-length: 55"])
        #expect(
            String(decoding: ChannelRequest.create(.latest).body, as: UTF8.self)
                == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(
            String(decoding: ChannelRequest.create(.nothing).body, as: UTF8.self)
                == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
        #expect(fields(.read(id)) == [":method: GET"] + host + [one, token, channel])
        #expect(fields(.delete(id)) == [":method: DELETE"] + host + [one, token, channel])
        #expect(fields(.list) == [":method: GET"] + host + [all, token])
        #expect(fields(.list, authorization: nil) == [":method: GET"] + host + [all])
        for request in [ChannelRequest.read(id), .delete(id), .list] {
            #expect(request.body.isEmpty && request.isIdempotent)
        }
    }

    /// What two libraries put on the wire, from their sources. Where they contradict Apple's page, Apple rules.
    @Test(
        arguments: [
            // @parse/node-apn, lib/client.js and lib/notification: pseudo-header fields, then those of the notification.
            Peer("node-apn", "read", [":method: GET", ":path: /1/apps/com.example.app/channels", "apns-channel-id: "]),
            Peer(
                "node-apn", "delete",
                [":method: DELETE", ":path: /1/apps/com.example.app/channels", "apns-channel-id: "]),
            Peer("node-apn", "list", [":method: GET", ":path: /1/apps/com.example.app/all-channels"]),
            // APNSwift, APNSBroadcastRequest: its list has the path of one channel.
            Peer("APNSwift", "read", [":method: GET", ":path: /1/apps/com.example.app/channels", "apns-channel-id: "]),
            Peer(
                "APNSwift", "delete",
                [":method: DELETE", ":path: /1/apps/com.example.app/channels", "apns-channel-id: "]),
            Peer("APNSwift", "list", [":method: GET", ":path: /1/apps/com.example.app/channels"], isWrong: true),
        ])
    func `two libraries ask in the same way, except where they contradict Apple`(peer: Peer) throws {
        let id = try #require(Self.id)
        let request: ChannelRequest = ["read": .read(id), "delete": .delete(id)][peer.action] ?? .list
        let kept = fields(request).filter { field in
            [":method", ":path", "apns-channel-id"].contains { field.hasPrefix($0 + ": ") }
        }
        let same = kept.count == peer.fields.count && zip(kept, peer.fields).allSatisfy { $0.hasPrefix($1) }
        #expect(same != peer.isWrong, "\(peer.library), \(peer.action): \(kept)")
    }

    struct Peer: Sendable {
        let library: String
        let action: String
        let fields: [String]
        var isWrong = false

        init(_ library: String, _ action: String, _ fields: [String], isWrong: Bool = false) {
            (self.library, self.action, self.fields, self.isWrong) = (library, action, fields, isWrong)
        }
    }

    private func reply(_ status: Int, _ body: String = "", channel: String? = nil, to request: ChannelRequest)
        -> ChannelReply
    {
        var parser = JSON.Parser()
        let response = ChannelReply.Response(
            status: status, channel: channel.map { Array($0.utf8)[...] }, body: Array(body.utf8)[...])
        return ChannelReply(response, to: request, parser: &parser)
    }

    @Test func `success is read from where Apple puts it`() throws {
        let id = try #require(Self.id)
        #expect(reply(201, channel: id.text, to: .create(.latest)) == .created(id))
        #expect(reply(204, to: .delete(id)) == .deleted)
        let properties = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        #expect(reply(200, properties, to: .read(id)) == .properties(.latest))
        #expect(reply(200, #"{"message-storage-policy":7}"#, to: .read(id)) == .properties(nil))
        #expect(reply(200, #"{"channels":["dHN0LXNyY2gtY2hubA=="]}"#, to: .list) == .list([id]))
        #expect(reply(200, #"{"channels":[]}"#, to: .list) == .list([]))
    }

    @Test func `an answer that lacks what it promises is not taken for one`() throws {
        let id = try #require(Self.id)
        #expect(reply(201, to: .create(.latest)) == .unreadable("it has no apns-channel-id that is base64"))
        #expect(
            reply(201, channel: "a b", to: .create(.latest)) == .unreadable("it has no apns-channel-id that is base64"))
        #expect(reply(200, "<html>", to: .read(id)) == .unreadable("it has no message-storage-policy"))
        #expect(reply(200, "", to: .list) == .unreadable("it has no array `channels`"))
        #expect(
            reply(200, #"{"channels":["dHN0",7]}"#, to: .list)
                == .unreadable("element 1 of `channels` is not a base64 id"))
    }

    @Test(
        arguments: [
            Reason.badChannelID, .badRequestParams, .badRequestPayload, .cannotCreateChannelConfig,
            .channelNotRegistered, .featureNotEnabled, .invalidPushType, .missingChannelID, .missingPushType,
            .topicMismatch, .forbidden, .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .badPath,
            .methodNotAllowed, .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown,
        ])
    func `a refusal keeps its reason`(reason: Reason) throws {
        let body = #"{"reason":"\#(reason.rawValue)"}"#
        guard case .refused(let refusal) = reply(reason.status, body, to: .create(.latest)) else {
            Issue.record("no refusal")
            return
        }
        #expect(refusal.reason == reason && refusal.status == reason.status)
    }
}
