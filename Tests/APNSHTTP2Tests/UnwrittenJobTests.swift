import APNSHTTP2
import APNSModel
import Document
import JSON
import PushModel
import TestSupport
import Testing

@testable import PushHTTP2

/// Jobs that leave the queue only if nothing of them was ever written.
struct UnwrittenJobTests {
    private var queue = RequestQueue()
    private var random = SeededGenerator(seed: 1)

    /// What a connection finds out about a notification that was written to it.
    enum Finding: CaseIterable {
        case refusedForNow, refusedForTheApp, doubtful, returned

        fileprivate func news(of batch: Batch) -> SessionNews {
            var news = SessionNews()
            switch self {
            case .refusedForNow: news.refused = [.init(batch: batch, reply: Self.reply(.serviceUnavailable))]
            case .refusedForTheApp: news.refused = [.init(batch: batch, reply: Self.reply(.forbidden))]
            case .doubtful: news.doubtful = [batch]
            case .returned: news.returned = [batch]
            }
            return news
        }

        fileprivate static func reply(_ reason: Reason) -> Reply {
            let body = Array(#"{"reason":"\#(reason.rawValue)"}"#.utf8)
            var parser = Parser()
            return Reply(status: reason.status, body: body[...], parser: &parser)
        }
    }

    /// Takes the first notification and hears this of it.
    private mutating func hear(_ finding: Finding) throws {
        let taken = queue.next(atMost: 1)
        _ = queue.apply(finding.news(of: try #require(taken)), at: Work.now(), using: &random)
    }

    @Test(arguments: Finding.allCases)
    mutating func `a job of which one was written stays, whatever became of that`(finding: Finding) throws {
        queue.append(Work.batch(0..<4))
        try hear(finding)
        let before = (queue.count, queue.pausingCount)
        #expect(queue.removeUnwritten(Work.job, count: 4) == nil)
        #expect((queue.count, queue.pausingCount) == before)
        let kept = queue.remove(Work.job)
        #expect(kept.notificationCount == 4)
    }

    @Test mutating func `a job that stays keeps the number of its doubts`() throws {
        var pauses = RequestQueue.Pauses()
        pauses.doubtLimit = 2
        queue.reconfigure(pauses)
        queue.append(Work.batch(0..<1))
        try hear(.doubtful)
        #expect(queue.removeUnwritten(Work.job, count: 1) == nil)
        try hear(.doubtful)
        #expect(queue.count == 0 && queue.pausingCount == 1)
    }

    @Test mutating func `a job stays while one of it is on a connection`() throws {
        queue.append(Work.batch(0..<4))
        let taken = queue.next(atMost: 1)
        #expect(queue.removeUnwritten(Work.job, count: 4)?.isEmpty == true && queue.count == 3)
        queue.putBack(try #require(taken))
        #expect(queue.removeUnwritten(Work.job, count: 4)?.flatMap(\.indices) == [0, 1, 2, 3])
        #expect(queue.count == 0)
    }

    @Test mutating func `what pauses for another's sake and was not written leaves with its job`() throws {
        let other = JobID(bits: 2)
        queue.append(Work.batch(2..<3, job: other))
        let taken = queue.next(atMost: 1)
        var news = SessionNews()
        let reply = Finding.reply(.tooManyRequests)
        news.refused = [SessionNews.Refused(batch: try #require(taken), reply: reply)]
        _ = queue.apply(news, at: Work.now(), using: &random)
        queue.append(Work.batch(0..<4))
        let free = queue.next(atMost: 4)
        queue.putBack(try #require(free))
        #expect(queue.pausingCount == 2)
        #expect(queue.removeUnwritten(Work.job, count: 4)?.flatMap(\.indices).sorted() == [0, 1, 2, 3])
        #expect(queue.count == 0 && queue.pausingCount == 1)
    }

    @Test(arguments: [false, true])
    mutating func `what waits for its announcement and was not written leaves with its job`(isAnnounced: Bool) {
        queue = RequestQueue(announces: true)
        queue.append(Work.batch(0..<4, onDoubt: .report))
        #expect(queue.next(atMost: 2)?.indices == nil)
        let named = queue.takeUnannounced()
        if isAnnounced { queue.announced(named) }
        #expect(queue.removeUnwritten(Work.job, count: 4)?.flatMap(\.indices).sorted() == [0, 1, 2, 3])
        #expect(queue.count == 0 && queue.unannouncedCount == 0)
    }
}
