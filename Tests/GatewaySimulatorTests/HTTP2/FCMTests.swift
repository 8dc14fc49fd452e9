import PushModel
import Testing

@testable import GatewaySimulator

/// How a simulated FCM answers, and what its ledger keeps.
struct FCMTests {
    /// The status, and the reason that the ledger keeps.
    private func outcome(
        of request: SampleRequest, _ rules: FCMRules = FCMRules(), script: String = ""
    ) throws -> Ledger.Outcome {
        var bench = try FCMSample.bench(rules, script: script)
        bench.request(request)
        return try #require(bench.outcomes.first)
    }

    @Test func `a message is accepted, and gets a name`() throws {
        var bench = try FCMSample.bench()
        bench.request(FCMSample.message())
        let name = try #require(bench.ledger.entries.first?.request?.id)
        #expect(bench.answers == ["1 200 {\"name\":\"\(name)\"}"])
        #expect(name.hasPrefix("projects/weather-4711/messages/0:1700000000000000%"))
    }

    @Test func `the ledger keeps the target and the body`() throws {
        var bench = try FCMSample.bench()
        bench.request(FCMSample.message("news", as: "topic"))
        let entry = try #require(bench.ledger.entries.first)
        #expect(entry.request?.target == "topic" && entry.addressText == "news" && entry.outcome == .accepted)
        #expect(entry.payloadText == #"{"message":{"topic":"news","data":{"a":"1"}}}"#)
        #expect(bench.ledger.violations.isEmpty)
    }

    @Test func `an answer is indented unless the query says otherwise`() throws {
        var bench = try FCMSample.bench()
        bench.request(FCMSample.message().with(":path", "/v1/projects/4711/messages:send").with(body: "{}"))
        guard case .answer(_, let fields, let body)? = bench.received.last else { throw BenchFault() }
        #expect(body.hasPrefix("{\n  \"error\": {\n    \"code\": 400,"))
        #expect(fields == [":status=400", "content-type=application/json; charset=UTF-8"])
    }

    @Test func `an app that was removed, and one of another project`() throws {
        var rules = FCMRules()
        (rules.unregistered, rules.foreign) = ([FCMSample.token], ["news"])
        #expect(try outcome(of: FCMSample.message(), rules) == .rejected(status: 404, reason: "UNREGISTERED"))
        // A topic of the same name is no installation.
        #expect(try outcome(of: FCMSample.message("news", as: "topic"), rules) == .accepted)
        rules = FCMRules()
        rules.foreign = [FCMSample.token]
        #expect(try outcome(of: FCMSample.message(), rules) == .rejected(status: 403, reason: "SENDER_ID_MISMATCH"))
    }

    @Test func `an iOS app without a key at Apple's gateway, and a device and a topic with too many messages`() throws {
        var rules = FCMRules()
        rules.withoutPlatformKey = [FCMSample.token]
        #expect(try outcome(of: FCMSample.message(), rules) == .rejected(status: 401, reason: "THIRD_PARTY_AUTH_ERROR"))
        rules.throttled = [FCMSample.token, "news"]
        for (target, member, kind) in [(FCMSample.token, "token", "device"), ("news", "topic", "topic")] {
            var bench = try FCMSample.bench(rules)
            bench.request(FCMSample.message(target, as: member))
            #expect(bench.answers[0].contains(#""violations":[{"subject":"\#(kind):\#(target)""#))
        }
    }

    @Test func `a project's quota is filled again after a window`() throws {
        var rules = FCMRules()
        rules.quota = FCMRules.Quota(messageCount: 2)
        rules.quota?.retryAfter = 30
        var bench = try FCMSample.bench(rules)
        bench.request(FCMSample.message(), FCMSample.message().with(body: "{}"), FCMSample.message())
        guard case .answer(_, let fields, _)? = bench.received.last else { throw BenchFault() }
        #expect(fields.contains("retry-after=30"))
        bench.pass(.seconds(60))
        bench.request(FCMSample.message())
        #expect(
            bench.outcomes == [
                .accepted, .rejected(status: 400, reason: "INVALID_ARGUMENT"),
                .rejected(status: 429, reason: "QUOTA_EXCEEDED"), .accepted,
            ])
    }

    @Test(arguments: [("project", "weather-4711"), ("device", FCMSample.token)])
    func `a script says whose quota is used up`(quota: String, subject: String) throws {
        var bench = try FCMSample.bench(script: "nth=1 answer quota=\(quota)")
        bench.request(FCMSample.message())
        #expect(bench.answers[0].contains(#""violations":[{"subject":"\#(quota):\#(subject)""#))
    }

    @Test func `a message that is only checked is no notification`() throws {
        var bench = try FCMSample.bench()
        let body = #"{"validate_only":true,"message":{"topic":"news"}}"#
        bench.request(FCMSample.message().with(body: body))
        #expect(bench.answers == [#"1 200 {"name":"projects/weather-4711/messages/fake_message_id"}"#])
        #expect(bench.ledger.arrivedCount == 0 && bench.ledger.checkedMessages.map(\.body) == [Array(body.utf8)])
    }

    @Test func `a connection without streams cannot be kept alive by PINGs`() throws {
        var bench = try FCMSample.bench()
        let ping = SampleRequest.frame(type: 6, flags: 0, stream: 0, payload: [UInt8](repeating: 7, count: 8))
        for _ in 0..<2 {
            bench.send(ping)
            bench.send(ping)
            bench.request(FCMSample.message())
        }
        #expect(bench.ledger.violations.isEmpty)
        for _ in 0..<3 { bench.send(ping) }
        #expect(bench.received.contains(.goAway(3, 11, "too_many_pings")) && bench.ledger.violationCount == 1)
    }

    @Test func `a message is written as a line and read again`() throws {
        var bench = try FCMSample.bench()
        bench.request(FCMSample.message(), FCMSample.message("'a' in topics", as: "condition"))
        let entries = Array(bench.ledger.entries)
        var lines: [UInt8] = []
        for entry in entries { lines.appendLine(of: entry) }
        let read = try Ledger.entries(ofLines: lines)
        #expect(read.map(\.addressText) == entries.map(\.addressText))
        #expect(read.map(\.request?.target) == ["token", "condition"])
        #expect(read.map(\.request?["authorization"]) == ["bearer …", "bearer …"])
    }

    @Test func `numbers at the end of addresses are tallied`() throws {
        var state = try FCMSample.state(FCMRules())
        state.ledger = Ledger(detail: .numbered(limit: 10))
        var bench = RequestBench(state, serving: FCMAPI())
        for number in 0..<3 { bench.request(FCMSample.message(FCMSample.token + "_\(number)")) }
        #expect(bench.ledger.tally.isExactlyOnce(3) && bench.ledger.tally.descentCount == 0)
    }

    @Test(arguments: [
        ("authorization", nil, 401, "CREDENTIALS_MISSING"), ("authorization", "Bearer wrong", 401, "UNAUTHENTICATED"),
        (":path", "/v1/projects/other/messages:send", 403, "IAM_PERMISSION_DENIED"), (":path", "/fcm/send", 404, ""),
        (":method", "GET", 404, ""),
    ])
    func `who may not send is refused`(name: String, value: String?, status: Int, reason: String) throws {
        let outcome = try outcome(of: FCMSample.message().with(name, value))
        #expect(outcome == .rejected(status: status, reason: reason))
    }

    @Test func `a project's API and its account's right are asked for`() throws {
        var rules = FCMRules()
        rules.projects = [FCMSample.project]
        rules.projects[0].isAPIEnabled = false
        #expect(try outcome(of: FCMSample.message(), rules) == .rejected(status: 403, reason: "SERVICE_DISABLED"))
        rules.projects[0].maySend = false
        #expect(try outcome(of: FCMSample.message(), rules) == .rejected(status: 403, reason: "IAM_PERMISSION_DENIED"))
    }

    @Test func `an access token expires`() throws {
        let state = try FCMSample.state(FCMRules(), lifetime: .seconds(10))
        var bench = RequestBench(state, serving: FCMAPI())
        bench.request(FCMSample.message())
        bench.pass(.seconds(10))
        bench.request(FCMSample.message())
        #expect(bench.outcomes == [.accepted, .rejected(status: 401, reason: "ACCESS_TOKEN_EXPIRED")])
    }

    @Test(arguments: [
        ("nth=1 answer", 404, "UNREGISTERED"), ("nth=1 answer reason=QUOTA_EXCEEDED", 429, "QUOTA_EXCEEDED"),
        ("nth=1 answer reason=THIRD_PARTY_AUTH_ERROR", 401, "THIRD_PARTY_AUTH_ERROR"),
        ("nth=1 answer status=418 reason=INTERNAL", 418, "INTERNAL"), ("nth=1 answer status=502", 502, ""),
        ("address=cXz1 answer reason=SERVICE_DISABLED", 403, "SERVICE_DISABLED"),
        ("port=fcm every=1 answer status=503 reason=", 503, ""),
    ])
    func `a script can give any of Google's answers`(script: String, status: Int, reason: String) throws {
        let outcome = try outcome(of: FCMSample.message(), script: script)
        #expect(outcome == .rejected(status: status, reason: reason))
    }

    @Test(arguments: [
        "address=other answer", "port=http2 every=1 answer", "port=oauth every=1 answer",
        "token=63 answer times=0x1 nth=2",
    ])
    func `a script's rule for other requests does not act`(script: String) throws {
        #expect(try outcome(of: FCMSample.message(), script: script) == .accepted)
    }

    @Test func `a front end's page is HTML`() throws {
        var bench = try FCMSample.bench(script: "nth=1 answer status=502 retry-after=7")
        bench.request(FCMSample.message())
        guard case .answer(_, let fields, let body)? = bench.received.last else { throw BenchFault() }
        #expect(fields == [":status=502", "content-type=text/html; charset=UTF-8", "retry-after=7"])
        #expect(body.contains("<title>Error 502 (Server Error)!!1</title>"))
    }

    @Test func `a connection has a hundred streams, and says why it ends`() throws {
        var bench = try FCMSample.bench(script: "after=1 goaway")
        guard case .settings(let settings)? = bench.received.first else { throw BenchFault() }
        #expect(settings[3] == 100)
        bench.request(FCMSample.message())
        #expect(bench.received.last == .goAway(1, 0, "session_timed_out"))
    }
}
