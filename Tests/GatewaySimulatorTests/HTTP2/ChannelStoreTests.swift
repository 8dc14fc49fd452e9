import Testing

@testable import GatewaySimulator

/// The channel management of a simulated gateway.
struct ChannelStoreTests {
    private static let one = "/1/apps/com.example.weather/channels"
    private static let all = "/1/apps/com.example.weather/all-channels"

    private func request(
        _ method: String, _ path: String = ChannelStoreTests.one, channel: String? = nil, body: String = ""
    ) -> SampleRequest {
        var request = SampleRequest()
        request.fields = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        if let channel { request.fields.append(("apns-channel-id", channel)) }
        return request.with(body: body)
    }

    private func creation(_ policy: Int = 1) -> SampleRequest {
        request("POST", body: #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
    }

    /// The id of the last answer that has one.
    private func id(in bench: RequestBench) throws -> String {
        let fields = bench.received.compactMap { if case .answer(_, let fields, _) = $0 { fields } else { nil } }
        let field = fields.joined().last { $0.hasPrefix("apns-channel-id=") }
        return String(try #require(field).dropFirst("apns-channel-id=".count))
    }

    @Test func `a channel is created, read, listed, used and deleted`() throws {
        var bench = try RequestBench()
        bench.request(creation(0))
        let id = try id(in: bench)
        bench.request(request("GET", channel: id), request("GET", Self.all))
        bench.request(request("DELETE", channel: id), request("DELETE", channel: id), request("GET", Self.all))
        #expect(
            bench.answers == [
                "1 201", #"3 200 {"message-storage-policy":0,"push-type":"LiveActivity"}"#,
                #"5 200 {"channels":["\#(id)"]}"#, "7 204", #"9 400 {"reason":"ChannelNotRegistered"}"#,
                #"11 200 {"channels":[]}"#,
            ])
        #expect(bench.ledger.entries.isEmpty && bench.ledger.acceptedCount == 0, "no notification")
        #expect(bench.ledger.channelRequests.count == 6 && bench.ledger.violations.isEmpty)
    }

    @Test func `what a channel stores decides about the expirations of its broadcasts`() throws {
        var bench = try RequestBench()
        bench.request(creation(0))
        let broadcast = SampleRequest().with("apns-topic", nil).with("apns-collapse-id", nil).with("apns-id", nil)
            .with("apns-push-type", "liveactivity").with(":path", "/4/broadcasts/apps/com.example.weather")
            .adding("apns-channel-id", try id(in: bench))
        bench.request(broadcast, broadcast.with("apns-expiration", "0"))
        #expect(bench.answers.dropFirst() == [#"3 400 {"reason":"BadExpirationDate"}"#, "5 200"])
    }

    @Test(
        arguments: [
            ("PUT", one, nil, "", "405 MethodNotAllowed"), ("POST", all, nil, "", "405 MethodNotAllowed"),
            ("GET", "/1/apps//channels", nil, "", "404 BadPath"),
            ("GET", "/1/apps/com.example.weather/other", nil, "", "404 BadPath"),
            ("GET", one, nil, "", "400 MissingChannelId"), ("DELETE", one, "a b", "", "400 BadChannelId"),
            ("GET", one, "YWJj", "", "400 ChannelNotRegistered"),
            ("POST", one, nil, "", "400 BadRequestPayload"), ("POST", one, nil, "[]", "400 BadRequestPayload"),
            ("POST", one, nil, #"{"message-storage-policy":1}"#, "400 MissingPushType"),
            ("POST", one, nil, #"{"message-storage-policy":1,"push-type":"alert"}"#, "400 InvalidPushType"),
            ("POST", one, nil, #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, "400 BadRequestParams"),
            ("GET", "/1/apps/com.example.other/all-channels", nil, "", "403 TopicMismatch"),
        ])
    func `what Apple refuses is refused`(
        refused: (method: String, path: String, channel: String?, body: String, answer: String)
    ) throws {
        var rules = RequestRules()
        rules.channels = [:]
        var bench = try RequestBench(rules: rules)
        bench.request(request(refused.method, refused.path, channel: refused.channel, body: refused.body))
        let parts = refused.answer.split(separator: " ")
        #expect(bench.answers == [#"1 \#(parts[0]) {"reason":"\#(parts[1])"}"#])
    }

    @Test func `an app has no more channels than the limit, and none without the capability`() throws {
        var rules = RequestRules()
        rules.channelLimit = 2
        var bench = try RequestBench(rules: rules)
        bench.request(creation(), creation(), creation())
        #expect(bench.answers == ["1 201", "3 201", #"5 400 {"reason":"CannotCreateChannelConfig"}"#])
        rules.allowsBroadcast = false
        bench = try RequestBench(rules: rules)
        bench.request(request("GET", Self.all))
        #expect(bench.answers == [#"1 400 {"reason":"FeatureNotEnabled"}"#])
    }

    @Test func `a creation that a script leaves without an answer has its effect, and one that it refuses has none`()
        throws
    {
        var bench = try RequestBench("nth=1 withhold\nnth=2 answer status=503 reason=ServiceUnavailable")
        bench.request(creation(), creation(), request("GET", Self.all))
        #expect(bench.answers.count == 2 && bench.answers[0].contains("ServiceUnavailable"))
        #expect(bench.answers[1].split(separator: ",").count == 1 && bench.answers[1].contains(#":[""#))
    }
}
