import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

struct SuppressionTests {
    private func record(
        _ kind: GoneRecord.Kind, _ bytes: [UInt8], of addressKind: Address.Kind = .deviceToken, _ time: WallTime = noon
    ) throws -> GoneRecord {
        try #require(GoneRecord(kind, Address(addressKind, bytes[...]), at: time))
    }

    // MARK: Records

    @Test(arguments: [
        (Address.Kind.deviceToken, [1, 7, 8, 9, 31, 32, 33, 99, 100]),
        (.registrationToken, [20, 163, 255, 256, 257, 1023, 1024]), (.installation, [22]),
    ])
    func `a record reads as it was written, whatever the address`(addressKind: Address.Kind, lengths: [Int]) throws {
        for length in lengths { try writeAndRead(addressKind, length) }
    }

    private func writeAndRead(_ addressKind: Address.Kind, _ length: Int) throws {
        let token = [UInt8](repeating: 0xAB, count: length)
        for (kind, time) in [(GoneRecord.Kind.gone, noon), (GoneRecord.Kind.registered, WallTime(nanoseconds: -1))] {
            let record = try self.record(kind, token, of: addressKind, time)
            var bytes: [UInt8] = []
            let sum = record.append(to: &bytes, after: GoneRecord.headSum)
            let found = try #require(GoneRecord.read(bytes, at: 0, after: GoneRecord.headSum))
            #expect(found.record == record && found.sum == sum)
            #expect(bytes.count == record.byteCount && bytes.count % GoneRecord.unit == 0)
            #expect(bytes.count <= GoneRecord.byteLimit && GoneRecord(bytes) == record)
        }
    }

    @Test func `a usual token takes 48 bytes, and the head of a log is a whole number of units`() throws {
        #expect(try record(.gone, [UInt8](repeating: 1, count: 32)).byteCount == 48)
        #expect(GoneRecord.head.count % GoneRecord.unit == 0)
    }

    @Test func `a record of a device token has the bytes that it always had`() throws {
        var bytes: [UInt8] = []
        _ = try record(.gone, Array(1...32)).append(to: &bytes, after: GoneRecord.headSum)
        #expect(bytes.dropFirst(4).prefix(4) == [1, 32, 0, 0] && bytes.suffix(32) == Array(1...32))
        #expect(bytes.count == 48)
    }

    @Test(arguments: [
        (Address.Kind.deviceToken, 0), (.deviceToken, 101), (.deviceToken, 255), (.registrationToken, 1025),
        (.topic, 5), (.condition, 20), (.channel, 8),
    ])
    func `no record has an address that none can be, or that many devices have`(kind: Address.Kind, length: Int) {
        let address = Address(kind, [UInt8](repeating: 1, count: length)[...])
        #expect(GoneRecord(.gone, address, at: noon) == nil)
    }

    @Test func `addresses of the same bytes and another kind have another hash`() {
        let bytes = Array("dQw4w9WgXcQ-_AbCdEfGhI".utf8)
        #expect(
            GoneIndex.hash(of: .registrationToken, bytes[...]) != GoneIndex.hash(of: .installation, bytes[...]))
    }

    @Test func `a record counts only behind the one that it was written behind`() throws {
        var bytes: [UInt8] = []
        let first = try record(.gone, [1]).append(to: &bytes, after: GoneRecord.headSum)
        let place = bytes.count
        _ = try record(.gone, [2]).append(to: &bytes, after: first)
        #expect(GoneRecord.read(bytes, at: place, after: first) != nil)
        #expect(GoneRecord.read(bytes, at: place, after: GoneRecord.headSum) == nil)
        #expect(GoneRecord.read(bytes, at: 0, after: first) == nil)
    }

    @Test func `no byte of a record can be another, and none be missing`() throws {
        var bytes: [UInt8] = []
        _ = try record(.gone, Array(1...32)).append(to: &bytes, after: GoneRecord.headSum)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(GoneRecord.read(damaged, at: 0, after: GoneRecord.headSum) == nil, "byte \(index)")
            #expect(GoneRecord.read(Array(bytes[..<index]), at: 0, after: GoneRecord.headSum) == nil, "\(index) bytes")
        }
    }

    @Test func `any bytes can be read as a record, or not`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...150, using: &random) { bytes.append(.random(in: 0...255, using: &random)) }
            if bytes.count > 7 {
                (bytes[4], bytes[5]) = (1, UInt8.random(in: 0...110, using: &random))
                (bytes[6], bytes[7]) = (
                    UInt8.random(in: 0...1, using: &random), UInt8.random(in: 0...6, using: &random)
                )
            }
            let record = GoneRecord(bytes)
            #expect(
                record.map {
                    $0.byteCount <= bytes.count && (1...$0.address.kind.byteLimit).contains($0.address.bytes.count)
                } ?? true, "\(seed)")
        }
    }

    // MARK: Index

    /// What an index is compared with: places by their hash.
    private typealias Model = [Int: UInt32]

    private func places(of hash: UInt32, in index: GoneIndex) -> Set<Int> {
        var places: Set<Int> = []
        let last = index.place(of: hash) { place in
            places.insert(place)
            return false
        }
        #expect(last == nil)
        return places
    }

    @Test(arguments: [1, 3, 0x3FF, 0xFFFF_FFFF] as [UInt32])
    func `an index finds every place that it was given, and no other, however hashes collide`(mask: UInt32) {
        for seed in UInt64(0)..<(mask < 16 ? 5 : 20) {
            var random = SeededGenerator(seed: seed)
            var (index, model, nextPlace) = (GoneIndex(), Model(), 0)
            for _ in 0..<600 {
                let hash = UInt32.random(in: 0...UInt32.max, using: &random) & mask &* 0x9E37_79B1
                switch Int.random(in: 0...9, using: &random) {
                case 0...5:
                    index.insert(hash, at: nextPlace)
                    model[nextPlace] = hash
                    nextPlace += Int.random(in: 1...9, using: &random)
                case 6...8:
                    guard let place = model.keys.sorted().randomElement(using: &random) else { continue }
                    if let hash = model.removeValue(forKey: place) { index.remove(hash, at: place) }
                default:
                    guard let place = model.keys.sorted().randomElement(using: &random) else { continue }
                    guard let hash = model.removeValue(forKey: place) else { continue }
                    index.move(hash, from: place, to: nextPlace)
                    model[nextPlace] = hash
                    nextPlace += 1
                }
            }
            check(index, model, seed)
        }
    }

    private func check(_ index: GoneIndex, _ model: Model, _ seed: UInt64) {
        #expect(index.count == model.count, "seed \(seed)")
        for (hash, pairs) in Dictionary(grouping: model, by: \.value) {
            #expect(places(of: hash, in: index) == Set(pairs.map(\.key)), "seed \(seed)")
            #expect(pairs.allSatisfy { index.contains(hash, at: $0.key) }, "seed \(seed)")
        }
        #expect(!index.contains(1, at: GoneIndex.placeLimit - 1), "seed \(seed)")
    }

    @Test func `an index grows as it must`() {
        var index = GoneIndex()
        for place in 0..<5000 { index.insert(UInt32(place) &* 0x9E37_79B1, at: place) }
        #expect(index.count == 5000)
        #expect((0..<5000).allSatisfy { index.contains(UInt32($0) &* 0x9E37_79B1, at: $0) })
    }

    @Test func `tokens that differ in one bit, or in zeros at the end, seldom have one hash`() {
        let token = [UInt8](repeating: 0, count: 32)
        var hashes = (1...32).map { GoneIndex.hash(of: .deviceToken, token[..<$0]) }
        for bit in 0..<256 {
            var other = token
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            hashes.append(GoneIndex.hash(of: .deviceToken, other[...]))
        }
        #expect(Set(hashes).count >= hashes.count - 1)
        #expect(GoneIndex.hash(of: .deviceToken, [9, 1, 2, 3][1...]) == GoneIndex.hash(of: .deviceToken, [1, 2, 3]))
    }

    // MARK: Jobs and outcomes

    @Test func `when a token was registered comes with its chunk, whatever else the recipient says`() {
        let early = #""registered_at": "2026-01-01T00:00:00Z""#
        let job = json(
            """
            {"alert": "x", "recipients": [{"token": "0A"}, {"token": "0B", \(early)}, {"token": "0C", \(early), "badge": 1},
             {"token": "0D"}, {"token": "zz", \(early)}]}
            """)
        let time = WallTime(rfc3339: "2026-01-01T00:00:00Z")
        #expect(job.chunks.count == 1 && job.sent.count == 5)
        #expect([0, 1, 2, 3].map { job.chunks[0].registrations[$0] } == [nil, time, time, nil])
    }

    @Test func `of lines too, each with the chunk that it is in`() {
        let line = #"{"token":"0A","alert":"x","registered_at":"2026-01-01T00:00:00Z"}"# + "\n"
        let job = lines(String(repeating: line, count: JobChunk.capacity + 2))
        #expect(job.chunks.map(\.registrations.count) == [JobChunk.capacity, 2])
        #expect(Set(job.chunks.flatMap { Array($0.registrations.keys) }) == Set(0..<JobChunk.capacity + 2))
    }

    @Test func `a job whose tokens are all gone was refused, and its file is not at fault`() {
        var tally = Tally()
        let suppressed = Refusal(status: nil, reason: "Suppressed", verdict: .gone, goneSince: noon)
        tally.add(.rejected(suppressed), count: 2)
        #expect(tally.refused == 2 && tally.invalid == 0 && tally.rejected == 2)
        #expect(Conclusion(tally: tally, fault: nil).code == .refused)
        tally.add(.accepted, count: 1)
        #expect(Conclusion(tally: tally, fault: nil).state == .done)
    }
}
