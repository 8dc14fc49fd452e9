import APNSHTTP2
import APNSModel
import Document
import JSON
import PushModel
import TestSupport
import Testing

@testable import PushHTTP2

/// How many notifications of a job pause, and whom that keeps from being sent.
struct PausedCountTests {
    private static let other = JobID(bits: 2)
    private var queue = RequestQueue()
    private var random = SeededGenerator(seed: 1)

    /// Lets the gateway refuse these notifications of the first job.
    private mutating func fail(_ indices: Range<Int>, _ reason: Reason = .serviceUnavailable) {
        let body = Array("{\"reason\":\"\(reason.rawValue)\"}".utf8)
        var parser = Parser()
        let reply = Reply(status: reason.status, body: body[...], parser: &parser)
        var news = SessionNews()
        news.refused = indices.map { .init(batch: Work.batch($0..<$0 + 1), reply: reply) }
        _ = queue.apply(news, at: Work.now(), using: &random)
    }

    @Test(.catalogue("J72 many-paused, the count", checks: []))
    mutating func `what pauses counts against its job until it is sent again, and not against its lane`() {
        fail(0..<10)
        #expect(queue.takePausedCounts() == [Work.job: 10])
        queue.append(Work.batch(0..<5, job: Self.other))
        #expect(queue.newCount(of: .normal) == 5)
        queue.release(at: .zero + .seconds(3600))
        #expect(queue.pausingCount == 0 && queue.count == 15 && queue.newCount(of: .normal) == 5)
        #expect(queue.takePausedCounts().isEmpty)
        #expect(queue.takeAll().count == 15)
        #expect(queue.takePausedCounts() == [Work.job: 0])
    }

    @Test mutating func `what is taken back does not count any more`() {
        fail(0..<10)
        #expect(queue.remove(Work.job).count == 10)
        #expect(queue.takePausedCounts() == [Work.job: 0])
        #expect(queue.remove(Work.job).isEmpty && queue.takePausedCounts().isEmpty)
    }

    @Test mutating func `notifications that pause with their token count, too`() {
        fail(3..<4, .tooManyRequests)
        queue.append(Work.batch(0..<8, job: Self.other))
        #expect(queue.takeAll() == [0, 1, 2, 4, 5, 6, 7])
        #expect(queue.takePausedCounts() == [Work.job: 1, Self.other: 1])
    }

    @Test mutating func `what has paused takes turns with other jobs of its lane`() {
        fail(0..<2000)
        queue.append(Work.batch(0..<100, job: Self.other))
        queue.release(at: .zero + .seconds(3600))
        var before = 0
        while let batch = queue.next(atMost: 1000), batch.job != Self.other { before += batch.count }
        #expect(before <= 512)
        queue.append(Work.batch(5000..<5001))
        #expect(queue.takeAll().last == 5000)
    }
}
