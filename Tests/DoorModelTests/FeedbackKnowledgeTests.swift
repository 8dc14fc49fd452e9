import Document
import DoorModel
import JSON
import PushModel
import Testing

/// What the relay makes of feedback.
struct FeedbackKnowledgeTests {
    private static let id = "123e4567-e89b-12d3-a456-42665544000a"
    private let start = WallTime(epochSeconds: 1_795_262_400)

    private func heard(_ members: String) throws -> HeardOutcome? {
        var parser = JSON.Parser()
        return HeardOutcome(try parser.parse(Array("{\"v\":1,\(members)}".utf8)).root)
    }

    @Test(arguments: [
        (#""outcome":"accepted""#, 200, ""),
        (#""outcome":"rejected","status":400,"reason":"BadDeviceToken","verdict":"invalid""#, 400, "BadDeviceToken"),
        (#""outcome":"rejected","reason":"PayloadTooLarge","verdict":"message""#, 413, "PayloadTooLarge"),
        (#""outcome":"rejected","reason":"BadPayload","verdict":"message""#, 400, "BadPayload"),
        (#""outcome":"expired""#, 400, "BadExpirationDate"),
        (#""outcome":"unsent","reason":"GivenUp","verdict":"retry""#, 503, "ServiceUnavailable"),
        (#""outcome":"unknown""#, 500, "InternalServerError"),
    ])
    func `an outcome is the gateway's answer`(members: String, status: Int, reason: String) throws {
        let outcome = try #require(try heard(#""kind":"notification","apns_id":"\#(Self.id)",\#(members)"#))
        #expect(outcome.id?.description == Self.id && !outcome.isGone)
        #expect(outcome.answer.status == status && outcome.answer.reason == reason)
    }

    @Test func `a gone token comes with its time`() throws {
        let outcome = try #require(
            try heard(
                #""kind":"notification","apns_id":"\#(Self.id)","token":"0a0b","outcome":"rejected","status":410,"#
                    + #""reason":"Unregistered","verdict":"gone","gone_since":"2023-11-14T22:13:20.123Z""#))
        #expect(outcome.isGone && outcome.receiver == [10, 11] && outcome.answer.timestamp == 1_700_000_000_123)
        #expect(outcome.answer.status == 410 && outcome.answer.reason == "Unregistered")
    }

    @Test func `a token that the daemon does not send to, because it is gone, is answered as Apple answered`() throws {
        let outcome = try #require(
            try heard(
                #""kind":"notification","apns_id":"\#(Self.id)","token":"0a0b","outcome":"rejected","#
                    + #""reason":"Suppressed","verdict":"gone","gone_since":"2023-11-14T22:13:20.123Z""#))
        #expect(outcome.isGone && outcome.answer.status == 410 && outcome.answer.reason == "Unregistered")
        #expect(outcome.answer.timestamp == 1_700_000_000_123)
    }

    @Test func `an outcome names its receiver, since several may have one id`() throws {
        let members = #""kind":"notification","apns_id":"\#(Self.id)","outcome":"accepted""#
        #expect(try heard(members + #","token":"0a0b""#)?.receiver == [10, 11])
        #expect(try heard(members + #","channel":"dGlja2Vy""#)?.receiver == Array("dGlja2Vy".utf8))
        var awaited = AwaitedAnswers(wait: .seconds(10))
        let id = NotificationID(job: JobID(bits: 1), index: 1)
        for number in 1...2 { awaited.add(RelayRequest(number), under: .init(app: "x", id: id, to: [UInt8(number)])) }
        #expect(awaited.take(.init(app: "x", id: id, to: [2])) == [2])
    }

    @Test func `a line about a token alone has no notification, and others tell nothing`() throws {
        let token = try #require(try heard(#""kind":"token","token":"0a","verdict":"gone""#))
        #expect(token.id == nil && token.isGone && token.receiver == [10])
        #expect(try heard(#""kind":"job","job":"a.json","state":"done""#) == nil)
    }

    @Test(arguments: [
        #""token":"cGxhbnQtMTIzNDU2Nzg5MA:APA91bOne","outcome":"rejected","status":404,"reason":"UNREGISTERED","verdict":"gone""#,
        #""fid":"cGxhbnQtMTIzNDU2Nzg5MA","outcome":"rejected","status":404,"reason":"UNREGISTERED","verdict":"gone""#,
        #""topic":"news","outcome":"accepted","message_name":"projects/weather-4711/messages/1""#,
        #""condition":"'a' in topics","outcome":"rejected","status":400,"reason":"INVALID_ARGUMENT","verdict":"message""#,
    ])
    func `lines about FCM's addresses tell the doors for Apple's clients nothing`(_ members: String) throws {
        let members = #""kind":"notification","app":"android","index":1,"# + members
        #expect(try heard(members) == nil)
        var parser = JSON.Parser()
        #expect(LostToken(try parser.parse(Array("{\"v\":1,\(members)}".utf8)).root) == nil)
    }

    @Test(arguments: [
        ("cancelled", 503, "ServiceUnavailable"), ("expired", 400, "BadExpirationDate"),
        ("unreadable", 500, "InternalServerError"),
    ])
    func `a job that ended before it was claimed answers for its notifications`(
        code: String, status: Int, reason: String
    ) throws {
        let members = #""kind":"job","job":"a.json","state":"failed","code":"\#(code)""#
        let end = try #require(try heard(members))
        #expect(end.id == nil && end.isJobEnd && end.job == "a.json" && !end.isGone)
        #expect(end.answer.status == status && end.answer.reason == reason)
        // The notifications of one that was claimed have lines of their own.
        #expect(try heard(members + #","claimed_at":"2026-11-28T10:00:00.000Z""#) == nil)
    }

    @Test func `a gone token is known for half of the lifetime at least, and for the whole at most`() {
        var gone = KnownGone(lifetime: .seconds(100))
        for second in Int64(0)..<500 {
            let now = start + .seconds(second)
            gone.note([UInt8(second % 256), UInt8(second / 256)], of: "weather", since: nil, at: now)
            for age in [Int64(0), 49, 100, 150] where age <= second {
                let token = [UInt8((second - age) % 256), UInt8((second - age) / 256)]
                let isKnown = gone.since(token, of: "weather", at: now) != nil
                #expect(isKnown == (age < 50) || (50..<100).contains(age), "\(age) at \(second)")
            }
        }
        #expect(gone.count <= 100 && gone.since([1, 0], of: "news", at: start) == nil)
    }

    @Test func `beyond the capacity the older half is forgotten, and without a lifetime all`() {
        var (gone, none) = (KnownGone(lifetime: .seconds(3600), capacity: 100), KnownGone(lifetime: .zero))
        for number in UInt8(0)..<250 {
            gone.note([number], of: "weather", since: nil, at: start)
            none.note([number], of: "weather", since: nil, at: start)
        }
        #expect(gone.count <= 100 && none.count == 0)
        #expect(gone.since([249], of: "weather", at: start) != nil && gone.since([0], of: "weather", at: start) == nil)
    }

    private func name(_ id: NotificationID) -> AwaitedAnswers.Name { .init(app: "x", id: id, to: [7]) }

    @Test func `requests wait for one notification until it is heard of, or until their time is up`() {
        var awaited = AwaitedAnswers(wait: .seconds(10))
        let ids = (0..<3).map { NotificationID(job: JobID(bits: 1), index: $0) }
        for (number, id) in [(1, ids[0]), (2, ids[1]), (3, ids[0]), (4, ids[2])] {
            awaited.add(RelayRequest(number), under: name(id))
            awaited.start([name(id)], in: .init(app: "x", file: "\(number)"), at: .zero + .seconds(Int64(number)))
        }
        awaited.start([.init(app: "news", id: ids[0], to: [7])], in: .init(app: "news", file: "a"), at: .zero)
        #expect(awaited.take(.init(app: "news", id: ids[0], to: [7])) == [])
        #expect(awaited.take(name(ids[0])) == [1, 3] && awaited.take(name(ids[0])) == [])
        #expect(awaited.takeDue(at: .zero + .seconds(12)) == [2] && !awaited.isEmpty)
        #expect(awaited.takeDue(at: .zero + .seconds(19)) == [4] && awaited.isEmpty)
    }
}
