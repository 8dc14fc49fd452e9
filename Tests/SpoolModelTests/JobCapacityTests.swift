import PushModel
import SpoolModel
import Testing

struct JobCapacityTests {
    private static func full(_ lane: Lane, pending: Int = 0) -> Int {
        var capacity = JobCapacity(JobCapacity.Limits(jobCount: 8, readerCount: 100, byteCount: 100))
        var count = 0
        while capacity.hasRoom(for: lane, pending: pending) {
            capacity.begin(lane, byteCount: 0)
            count += 1
        }
        return count
    }

    @Test(arguments: [(Lane.urgent, 8), (.normal, 6), (.bulk, 6)])
    func `a quarter of the capacity is for urgent jobs`(lane: Lane, count: Int) {
        #expect(Self.full(lane) == count)
        #expect(Self.full(lane, pending: 2) == count - 2)
    }

    @Test(arguments: [(8, 100, 100, 0), (100, 4, 100, 0), (100, 100, 40, 10)])
    func `urgent jobs find room where others are full`(jobs: Int, readers: Int, bytes: Int, each: Int) {
        var capacity = JobCapacity(JobCapacity.Limits(jobCount: jobs, readerCount: readers, byteCount: bytes))
        while capacity.hasRoom(for: .normal, pending: 0) { capacity.begin(.bulk, byteCount: each) }
        #expect(capacity.hasRoom(for: .urgent, pending: 0))
        while capacity.hasRoom(for: .urgent, pending: 0) { capacity.begin(.urgent, byteCount: each) }
        #expect(!capacity.hasRoom(for: .normal, pending: 0))
    }

    @Test func `what is read and what is over makes room`() {
        var capacity = JobCapacity(JobCapacity.Limits(jobCount: 4, readerCount: 1, byteCount: 100))
        capacity.begin(.urgent, byteCount: 100)
        #expect(!capacity.hasRoom(for: .urgent, pending: 0))
        capacity.close(.urgent, byteCount: 100)
        #expect(capacity.hasRoom(for: .urgent, pending: 0))
        for _ in 0..<3 { capacity.begin(.normal, byteCount: 0) }
        for _ in 0..<3 { capacity.close(.normal, byteCount: 0) }
        #expect(!capacity.hasRoom(for: .urgent, pending: 0))
        capacity.end(.normal)
        #expect(capacity.hasRoom(for: .normal, pending: 0))
    }
}
