import APNSModel
import Document
import JSON
import TestSupport
import Testing

@testable import APNSHTTP2

/// What becomes of answers, of missing ones, and of requests that were not processed.
struct RequestQueueTests {
    private var queue = RequestQueue()
    private var random = SeededGenerator(seed: 1)

    private static func reply(_ reason: Reason) -> Reply {
        let time = reason.status == 410 ? ",\"timestamp\":1700000000123" : ""
        let body = Array("{\"reason\":\"\(reason.rawValue)\"\(time)}".utf8)
        var parser = Parser()
        return Reply(status: reason.status, body: body[...], parser: &parser)
    }

    private mutating func expectTaken(_ indices: [Int], at location: SourceLocation = #_sourceLocation) {
        let taken = queue.takeAll()
        #expect(taken == indices, sourceLocation: location)
    }

    private mutating func take(
        refusing index: Int = 0, _ reason: Reason, retryAfter: Duration? = nil,
        adjust: (inout Batch.Header) -> Void = { _ in }
    ) -> RequestQueue.Consequences {
        var news = SessionNews()
        let batch = Work.batch(index..<index + 1, adjust: adjust)
        news.refused = [SessionNews.Refused(batch: batch, reply: Self.reply(reason), retryAfter: retryAfter)]
        return queue.take(news, at: Work.now(), using: &random)
    }

    private mutating func take(_ news: SessionNews) -> RequestQueue.Consequences {
        queue.take(news, at: Work.now(), using: &random)
    }

    @Test(arguments: [
        (Reason.unregistered, Verdict.gone), (.badDeviceToken, .invalid), (.payloadTooLarge, .message),
    ])
    mutating func `a refusal of the token or of the message is final`(reason: Reason, verdict: Verdict) {
        let consequences = take(refusing: 3, reason)
        #expect(consequences.settlements.map(\.outcome.refusal?.verdict) == [verdict])
        #expect(consequences.settlements.first?.outcome.refusal?.reason == reason.rawValue)
        expectTaken([])
        #expect(queue.pausingCount == 0)
    }

    @Test mutating func `a refusal of the app keeps the notification and asks to stop`() {
        let consequences = take(.forbidden)
        #expect(consequences.settlements.isEmpty)
        #expect(consequences.demands == [.stop(Self.reply(.forbidden))])
        expectTaken([0])
    }

    @Test(arguments: [Reason.badTopic, .topicDisallowed, .missingTopic, .deviceTokenNotForTopic])
    mutating func `a topic of the job's own is the job's fault`(reason: Reason) {
        let consequences = take(reason) { $0.hasOwnTopic = true }
        #expect(consequences.demands.isEmpty)
        #expect(consequences.settlements.map(\.outcome.refusal?.verdict) == [.message])
    }

    @Test mutating func `a shutdown is tried once at once and then pauses like a server error`() {
        let consequences = take(.shutdown)
        #expect(consequences.demands == [.replace])
        expectTaken([0])
        _ = take(.shutdown)
        expectTaken([])
        queue.release(at: .zero + .seconds(449))
        expectTaken([])
        queue.release(at: .zero + .seconds(901))
        expectTaken([0])
    }

    @Test(arguments: [Reason.internalServerError, .serviceUnavailable])
    mutating func `a server error pauses for a quarter of an hour, then twice as long`(reason: Reason) throws {
        for round in 0..<6 {
            let consequences = take(reason)
            #expect(consequences.settlements.isEmpty && consequences.demands.isEmpty)
            let pause = try #require(queue.nextRelease) - .zero
            let longest = min(900 << round, 4 * 3600)
            #expect(pause >= .seconds(longest / 2) && pause <= .milliseconds(longest * 1000 + 100))
            queue.release(at: .zero + .seconds(5 * 3600))
            expectTaken([0])
        }
    }

    @Test mutating func `429 holds the token and nobody else`() {
        _ = take(refusing: 5, .tooManyRequests)
        queue.append(Work.batch(4..<8))
        expectTaken([4, 6, 7])
        #expect(queue.pausingCount == 2)
        queue.release(at: .zero + .seconds(31))
        expectTaken([5, 5])
    }

    @Test mutating func `retry-after is a minimum, and the ceiling a maximum`() throws {
        _ = take(.tooManyRequests, retryAfter: .seconds(100))
        #expect(try #require(queue.nextRelease) >= .zero + .seconds(100))
        _ = take(refusing: 1, .internalServerError, retryAfter: .seconds(86_400))
        queue.release(at: .zero + .seconds(4 * 3600))
        expectTaken([0, 1])
    }

    @Test mutating func `too many provider tokens rest the app, not the notification`() throws {
        let consequences = take(.tooManyProviderTokenUpdates)
        #expect(try #require(consequences.rest) >= .seconds(15))
        #expect(consequences.demands == [.replace])
        expectTaken([0])
    }

    @Test mutating func `what would pause beyond its end is given up`() {
        let consequences = take(.internalServerError) { $0.giveUpAt = .zero + .seconds(300) }
        #expect(consequences.settlements.indices("unsent") == [0])
        #expect(consequences.settlements.first?.outcome.refusal?.verdict == .later)
        #expect(queue.pausingCount == 0)
    }

    @Test mutating func `what would pause beyond its expiration is given up`() {
        var attributes = Attributes()
        attributes.expiration = Expiration(epochSeconds: 1_800_000_300)
        let consequences = take(.internalServerError) { $0.attributes = attributes }
        #expect(consequences.settlements.indices("unsent") == [0])
    }

    @Test mutating func `a notification that draws a bad topic while others are accepted pauses at the third time`() {
        for _ in 0..<2 {
            _ = take(.topicDisallowed)
            expectTaken([0])
        }
        _ = take(.topicDisallowed)
        expectTaken([])
        #expect(queue.pausingCount == 1)
    }

    @Test(arguments: 1...4)
    mutating func `an unanswered request is sent again until it was in doubt too often, then pauses`(limit: Int) {
        var pauses = RequestQueue.Pauses()
        pauses.doubtLimit = limit
        queue.reconfigure(pauses)
        var news = SessionNews()
        for number in 1..<limit {
            news.doubtful = [Work.batch(0..<3)]
            #expect(take(news).settlements.isEmpty && queue.pausingCount == 0, "\(number)")
            expectTaken([0, 1, 2])
        }
        news.doubtful = [Work.batch(1..<2)]
        _ = take(news)
        expectTaken([])
        #expect(queue.pausingCount == 1)
    }

    @Test mutating func `an unanswered request that must not be sent twice is unknown`() {
        var news = SessionNews()
        news.doubtful = [Work.batch(0..<2, onDoubt: .report), Work.batch(2..<4)]
        let consequences = take(news)
        #expect(consequences.settlements.indices("unknown") == [0, 1])
        expectTaken([2, 3])
    }

    @Test mutating func `an acceptance makes a later doubt the first again`() {
        var pauses = RequestQueue.Pauses()
        pauses.doubtLimit = 2
        queue.reconfigure(pauses)
        var news = SessionNews()
        news.doubtful = [Work.batch(0..<2)]
        _ = take(news)
        var good = SessionNews()
        good.accepted = [Work.batch(0..<1)]
        let consequences = take(good)
        #expect(consequences.settlements.indices("accepted") == [0])
        _ = queue.takeAll()
        _ = take(news)
        expectTaken([0])
        #expect(queue.pausingCount == 1)
    }

    @Test mutating func `what was not processed is sent again at once, in front, ten times`() {
        var news = SessionNews()
        news.returned = [Work.batch(2..<4)]
        queue.append(Work.batch(4..<6))
        _ = take(news)
        expectTaken([2, 3, 4, 5])
        for _ in 0..<9 {
            _ = take(news)
            expectTaken([2, 3])
        }
        _ = take(news)
        expectTaken([])
        #expect(queue.pausingCount == 2)
    }

    @Test mutating func `removing a job takes what waits and what pauses`() {
        _ = take(.internalServerError)
        queue.append(Work.batch(1..<3))
        queue.append(Work.batch(0..<2, job: JobID(bits: 2)))
        let removed = queue.remove(Work.job).flatMap(\.indices)
        #expect(Set(removed) == [0, 1, 2])
        expectTaken([0, 1])
        #expect(queue.pausingCount == 0)
    }
}

/// What follows from refusals of the identity.
struct IdentityTrialTests {
    private static func reply(_ reason: Reason) -> Reply {
        let time = reason.status == 410 ? ",\"timestamp\":1700000000123" : ""
        let body = Array("{\"reason\":\"\(reason.rawValue)\"\(time)}".utf8)
        var parser = Parser()
        return Reply(status: reason.status, body: body[...], parser: &parser)
    }

    @Test func `a 403 stops at once`() {
        var trial = IdentityTrial()
        let step = trial.step(for: .stop(Self.reply(.forbidden)), on: nil)
        #expect(step == .stop(Self.reply(.forbidden)))
    }

    @Test func `a 400 stops at the third in a row`() {
        var trial = IdentityTrial()
        let reply = Self.reply(.badTopic)
        var steps = (0..<2).map { _ in trial.step(for: .stop(reply), on: nil) }
        trial.accepted()
        steps += (0..<3).map { _ in trial.step(for: .stop(reply), on: nil) }
        #expect(steps == [.goOn, .goOn, .goOn, .goOn, .stop(reply)])
    }
}
