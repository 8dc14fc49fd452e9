import APNSHTTP2
import APNSModel
import JSON
import PushHTTP2
import PushModel
import TestSupport
import Testing

struct ReplyTests {
    private func reply(_ status: Int, _ body: String = "") -> Reply {
        var parser = JSON.Parser()
        return Reply(status: status, body: Array(body.utf8)[...], parser: &parser)
    }

    @Test func `200 is an acceptance, whatever else it says`() {
        for body in ["", "{\"reason\":\"BadTopic\"}", "nonsense"] {
            let reply = reply(200, body)
            #expect(reply.isAcceptance && reply.failureClass == nil && reply.refusal == nil && reply.word == nil)
        }
    }

    @Test func `a refusal says why`() {
        let reply = reply(400, "{\"reason\":\"BadDeviceToken\"}")
        #expect(reply.reason == .badDeviceToken && reply.failureClass == .token && !reply.isAcceptance)
        #expect(reply.refusal == Refusal(status: 400, reason: "BadDeviceToken", verdict: .invalid))
    }

    @Test func `the spool's own door stops the app, with a remedy`() {
        let reply = reply(403, "{\"reason\":\"OwnDoor\"}")
        #expect(reply.failureClass == .app && reply.name == "OwnDoor")
        #expect(reply.hint?.contains("`gateway`") == true)
    }

    @Test func `a token that is gone says since when`() throws {
        let reply = reply(410, "{\"reason\":\"Unregistered\",\"timestamp\":1700000000123}")
        #expect(reply.goneSince?.rfc3339 == "2023-11-14T22:13:20.123Z")
        let expected = Refusal(
            status: 410, reason: "Unregistered", verdict: .gone,
            goneSince: WallTime(nanoseconds: 1_700_000_000_123_000_000))
        #expect(reply.refusal == expected)
    }

    /// Of a token that is gone Apple says since when.
    @Test(arguments: [
        "{\"reason\":\"Unregistered\"}", "{\"reason\":\"Unregistered\",\"timestamp\":null}",
        "{\"reason\":\"Unregistered\",\"timestamp\":\"1700000000123\"}",
        "{\"reason\":\"Unregistered\",\"timestamp\":-1}", "{\"reason\":\"Unregistered\",\"timestamp\":1.5}",
        "{\"reason\":\"Unregistered\",\"timestamp\":9223372036854775807}",
        "{\"reason\":\"Unregistered\",\"timestamp\":92233720368547758070}",
    ])
    func `a 410 without a time is not believed`(body: String) {
        let reply = reply(410, body)
        #expect(!reply.isGenuine && reply.goneSince == nil && reply.failureClass == .serverError)
        #expect(reply.name == "Status410" && reply.excerpt.hasPrefix("{\"reason\":\"Unregistered\""))
    }

    @Test func `a time beside another status than 410 is left out`() {
        #expect(reply(400, "{\"reason\":\"BadDeviceToken\",\"timestamp\":1700000000123}").goneSince == nil)
    }

    @Test(arguments: [
        "", "{", "{\"reason\":\"Unregis", "null", "[]", "17", "\"Unregistered\"", "<html>502</html>", "{}",
        "{\"reason\":null}", "{\"reason\":17}", "{\"reason\":[\"Unregistered\"]}", "{\"reason\":\"\"}",
        "{\"reason\":\"a\\nb\"}", "{\"reason\":\"a\",\"reason\":\"b\"}",
        "{\"reason\":\"\(String(repeating: "x", count: 65))\"}",
        "{\"reason\":\"Shutdown\",\"more\":\"\(String(repeating: "x", count: 4096))\"}",
    ])
    func `a body that is not Apple's says nothing about the token, whatever the status`(body: String) {
        for status in [301, 400, 403, 404, 405, 410, 413, 429, 502] {
            let reply = reply(status, body)
            #expect(reply.word == nil && !reply.isGenuine && reply.name == "Status\(status)")
            #expect(reply.failureClass == .serverError)
        }
    }

    @Test func `an excerpt shows the beginning of a page, and no token`() {
        let token = String(repeating: "aB3", count: 22)
        let page =
            "<html>\r\n  <h1>Not Found</h1>\n\n /3/device/\(token) \u{1B}[2J"
            + String(repeating: "x", count: 900)
        let excerpt = reply(404, page).excerpt
        #expect(excerpt.hasPrefix("<html> <h1>Not Found</h1> /3/device/(hidden) [2Jxxx") && excerpt.count == 100)
        #expect(reply(404, token).excerpt == "(hidden)" && reply(404).excerpt.isEmpty)
        #expect(reply(400, "{\"reason\":\"BadTopic\"}").excerpt.isEmpty && reply(200, page).excerpt.isEmpty)
    }

    @Test func `a word that nobody knows is kept, and goes by the status`() {
        let reply = reply(403, "{\"reason\":\"MoonTooFull\"}")
        #expect(reply.word == "MoonTooFull" && reply.failureClass == .app && reply.reason == nil)
        #expect(reply.refusal == Refusal(status: 403, reason: "MoonTooFull", verdict: .config))
    }

    /// The word is shown, and says what to do unless the status speaks of the gateway. Only a 410 says that a token is gone.
    @Test(arguments: [
        (400, Reason.expiredToken, FailureClass.token), (400, .unregistered, .token), (403, .unregistered, .token),
        (410, .badDeviceToken, .token), (410, .payloadTooLarge, .message), (403, .badDeviceToken, .token),
        (404, .badTopic, .app), (400, .invalidProviderToken, .app), (400, .expiredProviderToken, .retryNow),
        (400, .tooManyRequests, .retryLater), (429, .badDeviceToken, .retryLater), (500, .unregistered, .serverError),
        (502, .shutdown, .serverError), (503, .internalServerError, .serverError), (301, .badTopic, .serverError),
    ])
    func `a known word beside another status keeps its meaning`(
        status: Int, reason: Reason, failureClass: FailureClass
    ) {
        let reply = reply(status, "{\"reason\":\"\(reason.rawValue)\",\"timestamp\":1700000000123}")
        #expect(reply.isGenuine && reply.reason == reason && reply.failureClass == failureClass)
        let refusal = Refusal(status: status, reason: reason.rawValue, verdict: failureClass.verdict)
        #expect(reply.refusal == refusal)
    }

    @Test func `a 410 with a word that nobody knows is gone if it says since when`() {
        let reply = reply(410, "{\"reason\":\"MoonTooFull\",\"timestamp\":1700000000123}")
        #expect(reply.failureClass == .tokenGone && reply.goneSince != nil && reply.name == "MoonTooFull")
    }

    @Test(arguments: [
        ("{\"reason\":\"Shutdown\"}", Reason.shutdown), ("{\"reason\":\"Service Unavailable\"}", .serviceUnavailable),
        ("Maximum active streams violated for this endpoint.", nil), ("", nil), ("{\"reason\":\"?\"}", nil),
    ])
    func `a GOAWAY tells its reason, or text`(debug: String, reason: Reason?) {
        var parser = JSON.Parser()
        #expect(Reply.reason(ofGoAway: Array(debug.utf8)[...], parser: &parser) == reason)
    }

    @Test func `no body traps the reader`() {
        let good = Array("{\"reason\":\"Unregistered\",\"timestamp\":1700000000123}".utf8)
        var parser = JSON.Parser()
        for seed in UInt64(0)..<3_000 {
            var random = SeededGenerator(seed: seed)
            var body =
                seed % 3 == 0
                ? good
                : (0..<Int.random(in: 0...60, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            if !body.isEmpty {
                body[Int.random(in: 0..<body.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let reply = Reply(
                status: 410, body: body[..<Int.random(in: 0...body.count, using: &random)], parser: &parser)
            #expect(reply.failureClass != nil, "seed \(seed)")
        }
    }
}
