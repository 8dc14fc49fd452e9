import PushModel
import SpoolModel
import Testing

/// What was taken back from the gateway and is to be handed out again.
struct FreedBatchesTests {
    private func batch(_ indices: Range<Int>, job: Int = 1, _ lane: Lane) -> Batch {
        var tokens = PackedBytes()
        for index in indices { tokens.append([UInt8(truncatingIfNeeded: index)]) }
        var header = Batch.Header(job: JobID(bits: UInt128(job)), attributes: Attributes())
        header.lane = lane
        return Batch(
            header: header, firstIndex: indices.lowerBound, addresses: tokens, payloads: .shared(Payload(bytes: [])))
    }

    @Test(arguments: Lane.allCases, Lane.allCases)
    func `what came for one lane does not hide what came before it for another`(first: Lane, second: Lane) {
        guard first != second else { return }
        var freed = FreedBatches()
        freed.prepend([batch(0..<2, first), batch(2..<3, first)])
        freed.prepend([batch(0..<1, job: 2, second)])
        #expect(!freed.isEmpty(first) && !freed.isEmpty(second))
        #expect(freed.removeFirst(of: first, until: 100).map(\.indices) == [0..<2, 2..<3])
        #expect(freed.isEmpty(first) && !freed.isEmpty)
        #expect(freed.removeFirst(of: second, until: 100).map(\.indices) == [0..<1])
        #expect(freed.isEmpty)
    }

    @Test func `what came last of a lane goes first, and a turn takes no more batches than it needs`() {
        var freed = FreedBatches()
        freed.prepend([batch(4..<6, .bulk), batch(6..<8, .bulk)])
        freed.prepend([batch(0..<2, .bulk), batch(2..<4, .bulk)])
        #expect(freed.removeFirst(of: .bulk, until: 3).map(\.indices) == [0..<2, 2..<4])
        #expect(freed.removeFirst(of: .bulk, until: 3).map(\.indices) == [4..<6, 6..<8])
    }

    @Test func `a job is removed from its lane, and others stay`() {
        var freed = FreedBatches()
        freed.prepend([batch(0..<2, .bulk), batch(0..<1, job: 2, .bulk), batch(2..<4, .bulk)])
        #expect(freed.batches(of: JobID(bits: 1)).count == 2)
        #expect(Set(freed.remove(JobID(bits: 1)).map(\.indices)) == [0..<2, 2..<4])
        #expect(freed.remove(JobID(bits: 1)).isEmpty)
        #expect(freed.removeFirst(of: .bulk, until: 100).map(\.job) == [JobID(bits: 2)])
    }
}
