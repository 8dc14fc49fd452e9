import Document
import DoorModel
import PushModel
import TestSupport
import Testing

struct RecentIDsTests {
    private let start = WallTime(epochSeconds: 1_795_262_400)

    private func key(_ number: Int, producer: UInt8 = 1, to receiver: [UInt8] = [1, 2]) -> RecentIDs.Key {
        .init(producer: FNV1a([producer].span), id: NotificationID(job: JobID(bits: 7), index: number), to: receiver)
    }

    @Test func `an id is known for its lifetime, and only for its producer and its receiver`() {
        var ids = RecentIDs(lifetime: .seconds(3600))
        ids.insert(key(1), at: start)
        #expect(ids.contains(key(1), at: start + .seconds(3599)) && !ids.contains(key(1), at: start + .seconds(3600)))
        #expect(!ids.contains(key(2), at: start) && !ids.contains(key(1, producer: 2), at: start))
        #expect(!ids.contains(key(1, to: [1, 3]), at: start) && !ids.contains(key(1, to: [1]), at: start))
    }

    @Test func `beyond the capacity the oldest are forgotten`() {
        var ids = RecentIDs(lifetime: .seconds(3600), capacity: 100)
        for number in 0..<250 { ids.insert(key(number), at: start + .seconds(Int64(number))) }
        let now = start + .seconds(250)
        #expect(ids.count == 100)
        #expect((0..<250).filter { ids.contains(key($0), at: now) } == Array(150..<250))
    }

    @Test func `memory does not grow with ids that are too old`() {
        var ids = RecentIDs(lifetime: .seconds(10))
        for number in 0..<50_000 { ids.insert(key(number), at: start + .seconds(Int64(number))) }
        #expect(ids.count == 10)
    }

    @Test func `an id that was forgotten may come again`() {
        var ids = RecentIDs(lifetime: .seconds(10), capacity: 3)
        ids.insert(key(1), at: start)
        ids.forget(key(1))
        #expect(!ids.contains(key(1), at: start))
        for number in 1..<9 { ids.insert(key(number), at: start + .seconds(Int64(number))) }
        #expect(ids.contains(key(8), at: start + .seconds(9)) && !ids.contains(key(1), at: start + .seconds(9)))
    }

    @Test func `it knows what a plain list knows`() {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            let lifetime = Int64.random(in: 0...20, using: &random)
            var ids = RecentIDs(lifetime: .seconds(lifetime))
            var list: [Int: Int64] = [:]
            var now: Int64 = 0
            for _ in 0..<300 {
                now += Int64.random(in: 0...3, using: &random)
                let number = Int.random(in: 0..<40, using: &random)
                let isKnown = list[number].map { now - $0 < lifetime } ?? false
                #expect(ids.contains(key(number), at: start + .seconds(now)) == isKnown, "seed \(seed)")
                guard !isKnown else { continue }
                ids.insert(key(number), at: start + .seconds(now))
                list[number] = now
            }
        }
    }

    @Test func `every record is read again`() {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            let id = NotificationID(job: JobID(bits: .random(in: 0 ... .max, using: &random)), index: 0)
            let key = RecentIDs.Key(producer: FNV1a([UInt8.random(in: 0...255, using: &random)].span), id: id, to: [1])
            let time = WallTime(epochSeconds: .random(in: 0...4_000_000_000, using: &random))
            var bytes: [UInt8] = [1, 2, 3]
            key.appendRecord(at: time, to: &bytes)
            let record = RecentIDs.Key.record(in: bytes[3...])
            #expect(bytes.count == 3 + RecentIDs.Key.recordByteCount, "seed \(seed)")
            #expect(record.key == key && record.time == time, "seed \(seed)")
        }
    }
}
