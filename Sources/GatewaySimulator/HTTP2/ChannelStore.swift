import APNSHTTP2
import APNSModel
import APNSServing
import Document
import JSON
import PushModel

/// The broadcast channels that clients of a simulated gateway have created and deleted.
struct ChannelStore: Sendable {
    /// The created channels of each app, by id, in the order of their creation.
    private var created: [String: [(id: String, policy: RequestRules.StoragePolicy)]] = [:]
    /// The ids of deleted channels, also of those that the rules list.
    private var deleted: Set<String> = []
    private var random = SplitMix(seed: 0x6368_616E)

    /// Looks a channel up.
    ///
    /// - Parameters:
    ///   - id: Its base64 text.
    ///   - app: The app's bundle identifier.
    ///   - rules: The rules, which may list channels that every app has, or allow any.
    /// - Returns: What is stored of it; `nil` if there is no such channel.
    func policy(of id: String, of app: String, _ rules: RequestRules) -> RequestRules.StoragePolicy? {
        if deleted.contains(id) { return nil }
        if let channel = created[app]?.first(where: { $0.id == id }) { return channel.policy }
        return rules.channels == nil ? .latest : rules.channels?[id]
    }

    /// Returns the answer that depends only on the channel of a broadcast and the expiration.
    func answer(
        aboutBroadcastBy app: String, channel: [UInt8], expiry: UInt32?, _ rules: RequestRules
    ) -> RequestAnswer {
        guard let policy = policy(of: String(decoding: channel, as: UTF8.self), of: app, rules) else {
            return RequestAnswer(.channelNotRegistered)
        }
        return policy == .nothing && expiry != 0 ? RequestAnswer(.badExpirationDate) : .accepted
    }

    /// Answers a request of the channel management.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - channel: The channel's base64 text; empty if the request names none.
    ///   - body: The body of the request.
    ///   - rules: The rules.
    /// - Returns: The answer.
    mutating func answer(
        _ request: ManagementRequest, about channel: [UInt8], body: [UInt8], _ rules: RequestRules
    ) -> RequestAnswer {
        let (app, id) = (request.app, String(decoding: channel, as: UTF8.self))
        switch request.action {
        case .create: return create(by: app, body, rules)
        case .list:
            let ids = all(of: app, rules).map { "\"\($0)\"" }.joined(separator: ",")
            return RequestAnswer(status: 200, text: "{\"channels\":[\(ids)]}")
        case .read:
            guard let policy = policy(of: id, of: app, rules) else { return RequestAnswer(.channelNotRegistered) }
            let number = (policy == .nothing ? MessageStoragePolicy.nothing : .latest).rawValue
            let (policyKey, typeKey) = (ChannelRequest.policyKey, ChannelRequest.pushTypeKey)
            return RequestAnswer(
                status: 200, text: "{\"\(policyKey)\":\(number),\"\(typeKey)\":\"\(ChannelRequest.pushType)\"}")
        case .delete:
            guard policy(of: id, of: app, rules) != nil else { return RequestAnswer(.channelNotRegistered) }
            created[app]?.removeAll { $0.id == id }
            deleted.insert(id)
            return RequestAnswer(status: 204)
        }
    }

    /// The ids of an app's channels.
    private func all(of app: String, _ rules: RequestRules) -> [String] {
        let listed = (rules.channels ?? [:]).keys.filter { !deleted.contains($0) }
        return listed.sorted() + (created[app] ?? []).map(\.id)
    }

    private mutating func create(by app: String, _ body: [UInt8], _ rules: RequestRules) -> RequestAnswer {
        var parser = JSON.Parser()
        guard let root = (try? parser.parse(body))?.root, root.kind == .mapping else {
            return RequestAnswer(.badRequestPayload)
        }
        guard let type = root[ChannelRequest.pushTypeKey]?.string else { return RequestAnswer(.missingPushType) }
        guard type.lowercased() == ChannelRequest.pushType.lowercased() else { return RequestAnswer(.invalidPushType) }
        let number = root[ChannelRequest.policyKey]?.integer
        guard let policy = number.flatMap(MessageStoragePolicy.init(rawValue:)) else {
            return RequestAnswer(.badRequestParams)
        }
        guard all(of: app, rules).count < rules.channelLimit else { return RequestAnswer(.cannotCreateChannelConfig) }
        let id = String(decoding: (0..<24).map { _ in Self.digits[Int(random.next() & 63)] }, as: UTF8.self)
        created[app, default: []].append((id, policy == .nothing ? .nothing : .latest))
        var answer = RequestAnswer(status: 201)
        answer.channel = id
        return answer
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
