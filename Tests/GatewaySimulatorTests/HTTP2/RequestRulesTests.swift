import Testing

@testable import GatewaySimulator

/// What a strict gateway says to each request.
struct RequestRulesTests {
    private static let sample = SampleRequest()
    private static let start = "/3/device/"

    private func answer(to request: SampleRequest, rules: RequestRules = .init(), topics: [String]? = nil) throws
        -> String
    {
        var bench = try RequestBench(
            rules: rules, topics: topics ?? ["com.example.weather", "com.example.weather.voip"])
        bench.request(request)
        return try #require(bench.answers.first)
    }

    @Test func `a good request is answered with its own identifier`() throws {
        var bench = try RequestBench()
        bench.request(Self.sample)
        #expect(
            bench.received.last
                == .answer(
                    stream: 1, fields: [":status=200", "apns-id=123e4567-e89b-12d3-a456-4266554400a0"], body: ""))
        #expect(bench.outcomes == [.accepted] && bench.ledger.violations.isEmpty)
    }

    @Test(
        arguments: [
            (
                "a token in another case", sample.with(":path", start + "AB" + String(repeating: "ab", count: 31)),
                "BadDeviceToken"
            ),
            ("an odd token", sample.with(":path", start + "abc"), "BadDeviceToken"),
            ("a token too long", sample.with(":path", start + String(repeating: "a", count: 202)), "BadDeviceToken"),
            ("no token", sample.with(":path", start), "MissingDeviceToken"),
            ("a field twice", sample.adding("apns-priority", "10"), "DuplicateHeaders"),
            ("an unknown field twice", sample.adding("x", "1").adding("x", "1"), "DuplicateHeaders"),
            (
                "an identifier in capitals", sample.with("apns-id", "123E4567-E89B-12D3-A456-4266554400A0"),
                "BadMessageId"
            ),
            (
                "an identifier without hyphens", sample.with("apns-id", "123e4567e89b12d3a4564266554400a0"),
                "BadMessageId"
            ),
            ("a type unheard of", sample.with("apns-push-type", "shout"), "InvalidPushType"),
            ("a priority of 7", sample.with("apns-priority", "7"), "BadPriority"),
            ("a priority that is no number", sample.with("apns-priority", "high"), "BadPriority"),
            ("background at 10", sample.with("apns-push-type", "background"), "BadPriority"),
            ("an expiration in words", sample.with("apns-expiration", "tomorrow"), "BadExpirationDate"),
            ("an expiration below 0", sample.with("apns-expiration", "-1"), "BadExpirationDate"),
            (
                "65 bytes of collapse id", sample.with("apns-collapse-id", String(repeating: "c", count: 65)),
                "BadCollapseId"
            ),
            ("a topic that is not the type's", sample.with("apns-push-type", "voip"), "BadTopic"),
            ("a topic with a space", sample.with("apns-topic", "com example"), "BadTopic"),
            ("a topic of somebody else", sample.with("apns-topic", "com.example.other"), "TopicDisallowed"),
            ("no topic for several", sample.with("apns-topic", nil), "MissingTopic"),
            ("no body", sample.with(body: ""), "PayloadEmpty"),
            ("no object", sample.with(body: "[1]"), "BadRequestPayload"),
            ("no JSON", sample.with(body: "{\"aps\":"), "BadRequestPayload"),
        ] as [(String, SampleRequest, String)])
    func `what is wrong is refused with its reason`(name: String, request: SampleRequest, reason: String) throws {
        #expect(try answer(to: request) == "1 400 {\"reason\":\"\(reason)\"}", "\(name)")
    }

    @Test(
        arguments: [
            (sample.with(":method", "GET"), "405 {\"reason\":\"MethodNotAllowed\"}"),
            (sample.with(":path", "/2/device/ab"), "404 {\"reason\":\"BadPath\"}"),
            (sample.with(":path", start + "ab/ab"), "404 {\"reason\":\"BadPath\"}"),
            (sample.with(":path", start + "xy"), "400 {\"reason\":\"BadDeviceToken\"}"),
        ] as [(SampleRequest, String)])
    func `a wrong place is told with a status of its own`(request: SampleRequest, answer: String) throws {
        #expect(try self.answer(to: request) == "1 " + answer)
    }

    @Test(arguments: [
        ("alert", "", 4096, true), ("alert", "", 4097, false), ("voip", ".voip", 5120, true),
        ("voip", ".voip", 5121, false),
    ])
    func `a payload has a limit, which depends on the type`(type: String, suffix: String, count: Int, isGood: Bool)
        throws
    {
        let body = "{\"a\":\"" + String(repeating: "x", count: count - 8) + "\"}"
        let request = Self.sample.with("apns-push-type", type).with("apns-topic", "com.example.weather" + suffix)
            .with(body: body)
        #expect(try answer(to: request) == (isGood ? "1 200" : "1 413 {\"reason\":\"PayloadTooLarge\"}"))
    }

    @Test func `a token that is gone is told with since when`() throws {
        var rules = RequestRules()
        rules.unregistered = [[UInt8](repeating: 0xAB, count: 32): 1_700_000_000_123]
        #expect(
            try answer(to: Self.sample, rules: rules)
                == "1 410 {\"reason\":\"Unregistered\",\"timestamp\":1700000000123}")
    }

    @Test func `a token of the other environment and one of another app are refused`() throws {
        var rules = RequestRules()
        rules.foreign = [[UInt8](repeating: 0xAB, count: 32)]
        #expect(try answer(to: Self.sample, rules: rules).hasSuffix("{\"reason\":\"BadDeviceToken\"}"))
        rules.misdirected = rules.foreign
        rules.foreign = []
        #expect(try answer(to: Self.sample, rules: rules).hasSuffix("{\"reason\":\"DeviceTokenNotForTopic\"}"))
    }

    @Test func `without an identifier the gateway makes one, and without a topic the certificate's is meant`() throws {
        var bench = try RequestBench()
        bench.request(Self.sample.with("apns-id", nil).with("apns-topic", nil))
        guard case .answer(_, let fields, _)? = bench.received.last else { throw BenchFault() }
        #expect(fields.first == ":status=200" && fields.last?.count == 44)
        #expect(fields.last == "apns-id=" + (bench.ledger.entries[0].request?.id ?? ""))
    }

    @Test func `a push type is demanded if that is wanted`() throws {
        var rules = RequestRules()
        rules.requiresPushType = true
        #expect(
            try answer(to: Self.sample.with("apns-push-type", nil), rules: rules)
                == "1 400 {\"reason\":\"InvalidPushType\"}")
    }

    @Test func `a client without certificate and token is refused`() throws {
        var bench = try RequestBench(topics: nil)
        bench.request(Self.sample)
        #expect(bench.answers == ["1 403 {\"reason\":\"MissingProviderToken\"}"])
    }

    @Test func `the ledger has all of a request`() throws {
        var bench = try RequestBench()
        bench.request(Self.sample)
        let entry = try #require(bench.ledger.entries.first)
        #expect(entry.token == [UInt8](repeating: 0xAB, count: 32) && entry.payload == Self.sample.body)
        #expect(entry.command == 3 && entry.expiry == 1_700_003_600 && entry.priority == 10)
        let request = try #require(entry.request)
        #expect(request.stream == 1 && request.topic == "com.example.weather" && request.pushType == "alert")
        #expect(request.fields.map(\.name) == Self.sample.fields.map(\.name) && request.collapseID == "weather")
    }

    @Test func `a field that only looks like Apple's is noted, and harms nothing`() throws {
        var bench = try RequestBench()
        bench.request(Self.sample.adding("apns-colour", "red"))
        #expect(bench.answers == ["1 200"])
        #expect(bench.ledger.violations.map(\.message) == ["apns-colour is not a field that Apple defines"])
    }
}

/// A bench that did not get what it waits for.
struct BenchFault: Error {}
