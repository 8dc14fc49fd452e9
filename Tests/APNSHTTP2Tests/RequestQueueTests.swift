import APNSHTTP2
import APNSModel
import Document
import JSON
import PushModel
import TestSupport
import Testing

@testable import PushHTTP2

/// What becomes of answers, of missing ones, and of requests that were not processed.
struct RequestQueueTests {
    private var queue = RequestQueue()
    private var random = SeededGenerator(seed: 1)
    private var origin = RequestQueue.Origin()

    private static func reply(_ reason: Reason, status: Int? = nil) -> Reply {
        let time = reason.status == 410 ? ",\"timestamp\":1700000000123" : ""
        let body = Array("{\"reason\":\"\(reason.rawValue)\"\(time)}".utf8)
        var parser = Parser()
        return Reply(status: status ?? reason.status, body: body[...], parser: &parser)
    }

    private mutating func expectTaken(_ indices: [Int], at location: SourceLocation = #_sourceLocation) {
        let taken = queue.takeAll()
        #expect(taken == indices, sourceLocation: location)
    }

    private mutating func apply(
        refusing index: Int = 0, _ reason: Reason, retryAfter: Duration? = nil,
        adjust: (inout Batch.Header) -> Void = { _ in }
    ) -> RequestQueue.Consequences {
        var news = SessionNews()
        let batch = Work.batch(index..<index + 1, adjust: adjust)
        news.refused = [SessionNews.Refused(batch: batch, reply: Self.reply(reason), retryAfter: retryAfter)]
        return queue.apply(news, from: origin, at: Work.now(), using: &random)
    }

    /// Lets the next job on hold ask, and expects that there is one.
    private mutating func ask(at location: SourceLocation = #_sourceLocation) {
        let isAny = queue.askOne(at: .zero)
        #expect(isAny, sourceLocation: location)
    }

    private mutating func expect(
        _ reason: Reason, _ demands: [RequestQueue.Demand], at location: SourceLocation = #_sourceLocation
    ) {
        let made = apply(reason).demands
        #expect(made == demands, sourceLocation: location)
    }

    private mutating func apply(_ news: SessionNews) -> RequestQueue.Consequences {
        queue.apply(news, at: Work.now(), using: &random)
    }

    @Test(arguments: [
        (Reason.unregistered, Verdict.gone), (.badDeviceToken, .invalid), (.payloadTooLarge, .message),
    ])
    mutating func `a refusal of the token or of the message is final`(reason: Reason, verdict: Verdict) {
        let consequences = apply(refusing: 3, reason)
        #expect(consequences.settlements.map(\.outcome.refusal?.verdict) == [verdict])
        #expect(consequences.settlements.first?.outcome.refusal?.reason == reason.rawValue)
        expectTaken([])
        #expect(queue.pausingCount == 0)
    }

    @Test mutating func `a refusal of the app keeps the notification and asks to stop`() {
        let consequences = apply(.forbidden)
        #expect(consequences.settlements.isEmpty)
        #expect(consequences.demands == [.accuse(Self.reply(.forbidden), by: Work.job)])
        expectTaken([])
        _ = queue.ask(at: .zero + .seconds(2))
        expectTaken([0])
    }

    @Test(arguments: [Reason.forbidden, .invalidProviderToken, .badTopic, .missingTopic])
    mutating func `a refusal of the app holds its job, and others are sent`(reason: Reason) {
        queue.append(Work.batch(1..<4))
        queue.append(Work.batch(0..<2, job: JobID(bits: 2)))
        _ = apply(reason)
        queue.append(Work.batch(4..<6))
        expectTaken([0, 1])
        let paused = queue.takePausedCounts()
        #expect(queue.isBlocked && queue.hasHeldWork && paused == [Work.job: 6])
        // Each time with another notification, and with one only.
        for index in 1..<4 {
            ask()
            expectTaken([index])
            _ = apply(refusing: index, reason)
        }
        // An acceptance ends the hold.
        ask()
        expectTaken([0])
        var news = SessionNews()
        news.accepted = [Work.batch(0..<1)]
        _ = apply(news)
        expectTaken([4, 5, 1, 2, 3])
        #expect(!queue.hasHeldWork)
    }

    @Test mutating func `refusals of what was in flight do not prolong a job's hold`() throws {
        for index in 0..<100 {
            let demands = apply(refusing: index, .forbidden).demands
            #expect(demands == (index == 0 ? [.accuse(Self.reply(.forbidden), by: Work.job)] : []))
        }
        #expect(try #require(queue.nextAsk) <= .zero + .seconds(2))
    }

    @Test mutating func `a job that is refused while others are accepted is at fault, and asks ever more rarely`()
        throws
    {
        _ = apply(.forbidden)
        for round in 1..<20 {
            var news = SessionNews()
            news.accepted = [Work.batch(0..<1, job: JobID(bits: 2))]
            _ = apply(news)
            let pause = try #require(queue.nextAsk) - .zero
            let longest = min(2 << (round - 1), 4 * 3600)
            #expect(pause >= .seconds(longest) / 2 && pause <= .seconds(longest))
            ask()
            expectTaken([0])
            expect(.forbidden, [.warn(Self.reply(.forbidden), about: Work.job)])
        }
    }

    @Test mutating func `a notification that is refused while others of its job are accepted pauses alone`() {
        queue.append(Work.batch(1..<3))
        _ = apply(.forbidden)
        ask()
        expectTaken([1])
        var news = SessionNews()
        news.accepted = [Work.batch(1..<2)]
        _ = apply(news)
        expectTaken([2, 0])
        expect(.forbidden, [.warn(Self.reply(.forbidden), about: Work.job)])
        #expect(queue.pausingCount == 1 && !queue.hasHeldWork)
        queue.append(Work.batch(3..<4))
        expectTaken([3])
    }

    @Test mutating func `another configuration lets jobs on hold ask, and refusals count from the first`() {
        _ = apply(.forbidden)
        queue.reconfigure(RequestQueue.Pauses())
        _ = queue.ask(at: .zero)
        expectTaken([0])
        expect(.forbidden, [.accuse(Self.reply(.forbidden), by: Work.job)])
    }

    @Test mutating func `a token that is called expired is renewed once for a notification, and then blames the app`() {
        origin.openedWithToken = .zero
        expect(.expiredProviderToken, [.renewToken(Self.reply(.expiredProviderToken))])
        expectTaken([0])
        expect(.expiredProviderToken, [.renewTokenUnlessNew, .accuse(Self.reply(.expiredProviderToken), by: Work.job)])
        expectTaken([])
    }

    @Test mutating func `an expired token that a certificate's connection is told of blames the app`() {
        expect(.expiredProviderToken, [.accuse(Self.reply(.expiredProviderToken), by: Work.job)])
        #expect(queue.hasHeldWork)
    }

    @Test(arguments: PushType.allCases, [Reason.badTopic, .topicDisallowed, .missingTopic, .deviceTokenNotForTopic])
    mutating func `a topic derived from the push type is the job's fault`(type: PushType, reason: Reason) {
        let app = "com.example.app"
        var attributes = Attributes()
        attributes.pushType = type
        var news = SessionNews()
        let batch = Work.batch(0..<1) { $0.attributes = attributes }
        news.refused = [SessionNews.Refused(batch: batch, reply: Self.reply(reason))]
        let origin = RequestQueue.Origin(defaultTopic: app)
        let consequences = queue.apply(news, from: origin, at: Work.now(), using: &random)
        let verdicts = consequences.settlements.map(\.outcome.refusal?.verdict)
        if PushTopic.topic(for: type, app: app) != app {
            #expect(consequences.demands.isEmpty && verdicts == [.message])
        } else if reason == .deviceTokenNotForTopic {
            #expect(consequences.demands.isEmpty && verdicts == [.invalid])
        } else {
            #expect(consequences.demands == [.accuse(Self.reply(reason), by: Work.job)] && verdicts.isEmpty)
        }
    }

    @Test mutating func `what pauses is released for an app that asks again, except of a job on hold`() {
        _ = apply(refusing: 0, .internalServerError)
        _ = apply(refusing: 1, .forbidden)
        var isAny = queue.releasePaused()
        #expect(!isAny)
        _ = apply(refusing: 0, .internalServerError) { $0.job = JobID(bits: 2) }
        isAny = queue.releasePaused()
        #expect(isAny && queue.pausingCount == 1)
        expectTaken([0])
    }

    @Test(arguments: [Reason.badTopic, .topicDisallowed, .missingTopic, .deviceTokenNotForTopic])
    mutating func `a topic of the job's own is the job's fault`(reason: Reason) {
        let consequences = apply(reason) { $0.hasOwnTopic = true }
        #expect(consequences.demands.isEmpty)
        #expect(consequences.settlements.map(\.outcome.refusal?.verdict) == [.message])
    }

    @Test(arguments: Reason.allCases, [429, 500, 503])
    mutating func `a status that may pass decides, whatever reason comes with it`(reason: Reason, status: Int) {
        guard reason.status != status else { return }
        var news = SessionNews()
        let batch = Work.batch(0..<1) {
            $0.hasOwnTopic = true
            $0.attributes.addressKind = .channel
        }
        news.refused = [SessionNews.Refused(batch: batch, reply: Self.reply(reason, status: status))]
        let consequences = apply(news)
        #expect(consequences.settlements.isEmpty && consequences.demands.isEmpty, "\(consequences)")
        #expect(queue.pausingCount == 1)
    }

    @Test mutating func `a shutdown is tried once at once and then pauses like a server error`() {
        let consequences = apply(.shutdown)
        #expect(consequences.demands == [.replace])
        expectTaken([0])
        _ = apply(.shutdown)
        expectTaken([])
        queue.release(at: .zero + .seconds(449))
        expectTaken([])
        queue.release(at: .zero + .seconds(901))
        expectTaken([0])
    }

    @Test(arguments: [Reason.internalServerError, .serviceUnavailable])
    mutating func `a server error pauses for a quarter of an hour, then twice as long`(reason: Reason) throws {
        for round in 0..<6 {
            let consequences = apply(reason)
            #expect(consequences.settlements.isEmpty && consequences.demands.isEmpty)
            let pause = try #require(queue.nextRelease) - .zero
            let longest = min(900 << round, 4 * 3600)
            #expect(pause >= .seconds(longest / 2) && pause <= .milliseconds(longest * 1000 + 100))
            queue.release(at: .zero + .seconds(5 * 3600))
            expectTaken([0])
        }
    }

    @Test mutating func `429 holds the token and nobody else`() {
        _ = apply(refusing: 5, .tooManyRequests)
        queue.append(Work.batch(4..<8))
        expectTaken([4, 6, 7])
        #expect(queue.pausingCount == 2)
        queue.release(at: .zero + .seconds(31))
        expectTaken([5, 5])
    }

    @Test mutating func `retry-after is a minimum, and the ceiling a maximum`() throws {
        _ = apply(.tooManyRequests, retryAfter: .seconds(100))
        #expect(try #require(queue.nextRelease) >= .zero + .seconds(100))
        _ = apply(refusing: 1, .internalServerError, retryAfter: .seconds(86_400))
        queue.release(at: .zero + .seconds(4 * 3600))
        expectTaken([0, 1])
    }

    @Test mutating func `too many provider tokens ask for another connection, and again hold the job`() throws {
        let first = apply(.tooManyProviderTokenUpdates)
        #expect(first.demands == [.replace] && first.rest == nil)
        expectTaken([0])
        queue.append(Work.batch(0..<2, job: JobID(bits: 2)))
        let second = apply(.tooManyProviderTokenUpdates, retryAfter: .seconds(100))
        #expect(second.demands == [.replace] && second.rest == nil)
        #expect(try #require(queue.nextAsk) >= .zero + .seconds(100))
        // Others are sent.
        expectTaken([0, 1])
        // A job that asks again is held at once.
        for _ in 0..<20 {
            ask()
            expectTaken([0])
            let again = apply(.tooManyProviderTokenUpdates)
            #expect(again.demands == [.replace] && again.rest == nil)
        }
    }

    @Test mutating func `too many provider tokens for three jobs in a row rest the app, ever longer`() throws {
        func refuse(_ job: Int, _ test: inout Self) -> Duration? {
            for _ in 0..<2 {
                let rest = test.apply(.tooManyProviderTokenUpdates) { $0.job = JobID(bits: UInt128(job)) }.rest
                if let rest { return rest }
            }
            return nil
        }
        let first = [1, 2].map { refuse($0, &self) }
        #expect(first == [nil, nil])
        #expect(try #require(refuse(3, &self)) >= .seconds(15))
        #expect(try #require(refuse(4, &self)) >= .seconds(30))
        // Not while another job waits.
        queue.append(Work.batch(0..<1, job: JobID(bits: 8)))
        #expect(refuse(7, &self) == nil)
        expectTaken([0])
        var news = SessionNews()
        news.accepted = [Work.batch(0..<1, job: JobID(bits: 9))]
        _ = apply(news)
        #expect(refuse(5, &self) == nil)
    }

    @Test mutating func `what would pause beyond its end is given up`() {
        let consequences = apply(.internalServerError) { $0.giveUpAt = .zero + .seconds(300) }
        #expect(consequences.settlements.indices("unsent") == [0])
        #expect(consequences.settlements.first?.outcome.refusal?.verdict == .later)
        #expect(queue.pausingCount == 0)
    }

    @Test mutating func `what would pause beyond its expiration is given up`() {
        var attributes = Attributes()
        attributes.expiration = Expiration(epochSeconds: 1_800_000_300)
        let consequences = apply(.internalServerError) { $0.attributes = attributes }
        #expect(consequences.settlements.indices("unsent") == [0])
    }

    @Test(arguments: 1...4)
    mutating func `an unanswered request is sent again until it was in doubt too often, then pauses`(limit: Int) {
        var pauses = RequestQueue.Pauses()
        pauses.doubtLimit = limit
        queue.reconfigure(pauses)
        var news = SessionNews()
        for number in 1..<limit {
            news.doubtful = [Work.batch(0..<3)]
            #expect(apply(news).settlements.isEmpty && queue.pausingCount == 0, "\(number)")
            expectTaken([0, 1, 2])
        }
        news.doubtful = [Work.batch(1..<2)]
        _ = apply(news)
        expectTaken([])
        #expect(queue.pausingCount == 1)
    }

    @Test mutating func `an unanswered request that must not be sent twice is unknown`() {
        var news = SessionNews()
        news.doubtful = [Work.batch(0..<2, onDoubt: .report), Work.batch(2..<4)]
        let consequences = apply(news)
        #expect(consequences.settlements.indices("unknown") == [0, 1])
        expectTaken([2, 3])
    }

    @Test mutating func `an acceptance makes a later doubt the first again`() {
        var pauses = RequestQueue.Pauses()
        pauses.doubtLimit = 2
        queue.reconfigure(pauses)
        var news = SessionNews()
        news.doubtful = [Work.batch(0..<2)]
        _ = apply(news)
        var good = SessionNews()
        good.accepted = [Work.batch(0..<1)]
        let consequences = apply(good)
        #expect(consequences.settlements.indices("accepted") == [0])
        _ = queue.takeAll()
        _ = apply(news)
        expectTaken([0])
        #expect(queue.pausingCount == 1)
    }

    @Test mutating func `what was not processed is sent again at once, in front, ten times`() {
        var news = SessionNews()
        news.returned = [Work.batch(2..<4)]
        queue.append(Work.batch(4..<6))
        _ = apply(news)
        expectTaken([2, 3, 4, 5])
        for _ in 0..<9 {
            _ = apply(news)
            expectTaken([2, 3])
        }
        _ = apply(news)
        expectTaken([])
        #expect(queue.pausingCount == 2)
    }

    @Test mutating func `removing a job takes what waits and what pauses`() {
        _ = apply(.internalServerError)
        queue.append(Work.batch(1..<3))
        queue.append(Work.batch(0..<2, job: JobID(bits: 2)))
        let removed = queue.remove(Work.job).flatMap(\.indices)
        #expect(Set(removed) == [0, 1, 2])
        expectTaken([0, 1])
        #expect(queue.pausingCount == 0)
    }
}
