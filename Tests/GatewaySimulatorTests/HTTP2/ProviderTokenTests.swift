import Testing

@testable import GatewaySimulator

/// Who may send with which provider token.
struct ProviderTokenTests {
    private static let start = RequestBench.epochSeconds
    private let pair: (key: RegisteredKey, privateKey: [UInt8])
    private var rules = RequestRules()

    init() throws {
        pair = try RegisteredKey.throwaway()
        rules.keys = [pair.key]
    }

    private func request(_ token: String) -> SampleRequest {
        SampleRequest().adding("authorization", "bearer " + token)
    }

    private func token(at seconds: Int64 = start) throws -> String {
        try SampleToken.make(with: pair.privateKey, at: seconds)
    }

    private func reasons(_ requests: SampleRequest..., rules: RequestRules? = nil) throws -> [String] {
        var bench = try RequestBench(rules: rules ?? self.rules, topics: nil)
        for request in requests { bench.request(request) }
        return bench.answers.map(\.reason)
    }

    @Test func `a token that its key signed is good, again and again`() throws {
        let token = try token()
        #expect(try reasons(request(token), request(token)) == ["200", "200"])
    }

    @Test(arguments: [(3599, "200"), (3601, "ExpiredProviderToken"), (-3601, "ExpiredProviderToken")])
    func `a token is good for an hour`(age: Int64, reason: String) throws {
        #expect(try reasons(request(token(at: Self.start - age))) == [reason])
    }

    @Test func `a token ages while its connection lives`() throws {
        var bench = try RequestBench(rules: rules, topics: nil)
        let token = try token()
        bench.request(request(token))
        bench.pass(.seconds(3601))
        bench.request(request(token))
        #expect(bench.answers.map(\.reason) == ["200", "ExpiredProviderToken"])
    }

    @Test func `what is no token, or of an unknown key, or wrongly signed is invalid`() throws {
        let (_, other) = try RegisteredKey.throwaway()
        let wrong = [
            "a.b.c", try SampleToken.make(with: other, at: Self.start),
            try SampleToken.make(with: pair.privateKey, at: Self.start, keyID: "ABC123DEFH"),
            try SampleToken.make(with: pair.privateKey, at: Self.start, teamID: "DEF123GHIK"),
            String(try token().dropLast(4)) + "AAAA",
        ]
        for token in wrong {
            #expect(try reasons(request(token)) == ["InvalidProviderToken"], "\(wrong.firstIndex(of: token) ?? -1)")
        }
        #expect(try reasons(SampleRequest().adding("authorization", "basic abc")) == ["InvalidProviderToken"])
        #expect(try reasons(SampleRequest()) == ["MissingProviderToken"])
    }

    @Test func `a second token within twenty minutes is one too many`() throws {
        var bench = try RequestBench(rules: rules, topics: nil)
        bench.request(request(try token()))
        bench.request(request(try token(at: Self.start + 1)))
        bench.pass(.seconds(1200))
        bench.request(request(try token(at: Self.start + 2)))
        #expect(bench.answers.map(\.reason) == ["200", "TooManyProviderTokenUpdates", "200"])
    }

    @Test func `a connection stays with its first key and team`() throws {
        let second = try RegisteredKey.throwaway(keyID: "KEY0000002")
        let foreign = try RegisteredKey.throwaway(keyID: "KEY0000003", teamID: "TEAM000002")
        var rules = rules
        rules.keys += [second.key, foreign.key]
        let tokens = [
            try token(), try SampleToken.make(with: second.privateKey, at: Self.start, keyID: "KEY0000002"),
            try SampleToken.make(with: foreign.privateKey, at: Self.start, keyID: "KEY0000003", teamID: "TEAM000002"),
        ]
        var bench = try RequestBench(rules: rules, topics: nil)
        for token in tokens { bench.request(request(token)) }
        #expect(bench.answers.map(\.reason) == ["200", "UnrelatedKeyIdInToken", "InvalidProviderToken"])
    }

    @Test func `a topic is demanded, and must be the key's`() throws {
        var rules = rules
        rules.keys[0].topics = ["com.example.other"]
        let token = try token()
        #expect(try reasons(request(token).with("apns-topic", nil)) == ["MissingTopic"])
        #expect(try reasons(request(token), rules: rules) == ["TopicDisallowed"])
        rules.keys[0].topics = ["com.example.weather"]
        let voip = request(token).with("apns-topic", "com.example.weather.voip").with("apns-push-type", "voip")
        #expect(try reasons(voip, rules: rules) == ["200"])
    }

    @Test func `a certificate makes a token superfluous`() throws {
        var bench = try RequestBench(rules: rules)
        bench.request(request("nonsense"))
        #expect(bench.answers == ["1 200"])
    }

    @Test func `one stream is allowed until the first success with a token`() throws {
        var bench = try RequestBench(rules: rules, topics: nil)
        #expect(bench.limits == [1])
        bench.request(SampleRequest())
        #expect(bench.limits == [1])
        bench.request(request(try token()))
        #expect(bench.limits == [1, 1000])
        #expect(try RequestBench().limits == [1000])
    }

    @Test func `a key that is none is told before anything runs`() {
        var rules = RequestRules()
        rules.keys = [RegisteredKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", publicKey: Array("nonsense".utf8))]
        #expect(throws: SimulatorFault.self) { try RequestTerms(rules) }
    }
}

extension String {
    /// The reason in an answer's text, or its status.
    fileprivate var reason: String {
        let parts = split(separator: "\"")
        return parts.count > 3 ? String(parts[3]) : String(split(separator: " ").last ?? "")
    }
}

extension RequestBench {
    /// The stream limits that were told, in order.
    fileprivate var limits: [UInt32] {
        received.compactMap { if case .settings(let settings) = $0 { settings[3] } else { nil } }
    }
}
