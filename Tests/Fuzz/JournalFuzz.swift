import JobFormat
import JournalModel
import PushModel
import SpoolModel

/// A journal that another program wrote, or chance: its checksums are right, whatever it says.
enum JournalFuzz {
    private static let layout = JournalLayout(byteCount: 4096 + 16 * 32_768, regionByteCount: 32_768)

    /// What a job looks like to whoever goes on with it.
    private struct Job: Equatable {
        var facts: JournalHeader.Facts
        var sets: [IndexRuns]
        var tally: Tally
        var final: JournalFinal?
        var marks: [Bool]
    }

    /// Records, each of a type, a mark for flags, a length and a payload; a type over 127 begins another region.
    static func run(_ input: Span<UInt8>) {
        var file = image(of: input)
        let first = replay(file)
        promise(first.orphans.isDisjoint(with: first.jobs.keys), "an orphan that is a job")
        for index in 0..<layout.regionCount { _ = JournalText.lines(ofRegion: region(index, of: file), index: index) }
        do throws(JournalFull) {
            var book = try JournalBook(layout: layout, after: first, salt: 1)
            try publish(&book, first)
            write(&book, to: &file)
            let before = jobs(replay(file))
            for id in book.liveJobs { try carry(id, &book, file) }
            write(&book, to: &file)
            promise(jobs(replay(file)) == before, "carried jobs differ")
        } catch {
            return  // Full: as it may be.
        }
    }

    private static func publish(_ book: inout JournalBook, _ replay: JournalReplay) throws(JournalFull) {
        guard let feedback = FileName("f.jsonl"), let name = FileName("x.json") else { return }
        let position = try book.append(.ended(JournalSubject(app: "", name: name)))
        for app in Set(replay.jobs.values.map(\.facts.app)) {
            try book.append(.published(JournalPublication(app: app, feedback: feedback, through: position)))
        }
    }

    private static func carry(_ id: JobID, _ book: inout JournalBook, _ file: [UInt8]) throws(JournalFull) {
        guard let job = book.job(id), let offset = book.fileOffset(of: job.position).map({ Int($0) }) else {
            return promise(false, "a live job without a place")
        }
        let bytes = Array(file[offset..<offset + job.headerByteCount])
        guard let header = JournalReplay.header(of: job, in: bytes) else {
            return promise(false, "a live job whose header cannot be read again")
        }
        try book.carry(id, header: header)
    }

    private static func jobs(_ replay: JournalReplay) -> [JobID: Job] {
        replay.jobs.mapValues { job in
            Job(
                facts: job.facts,
                sets: [job.remaining, job.rejected, job.expired, job.unsent, job.unknown, job.intents],
                tally: job.tally, final: job.final,
                marks: [job.isClaimed, job.isDamaged, job.isFinalTold, job.untold.isEmpty, job.holdsBytes])
        }
    }

    private static func write(_ book: inout JournalBook, to file: inout [UInt8]) {
        for write in book.takeWrites() {
            let start = Int(write.offset)
            promise(start >= 4096 && start + write.bytes.count <= file.count, "a write beyond the file")
            file.replaceSubrange(start..<start + write.bytes.count, with: write.bytes)
        }
    }

    private static func region(_ index: Int, of file: [UInt8]) -> [UInt8] {
        let start = Int(layout.offset(ofRegion: index))
        return Array(file[start..<start + layout.regionByteCount])
    }

    private static func replay(_ file: [UInt8]) -> JournalReplay {
        var replay = JournalReplay(layout: layout)
        for index in 0..<layout.regionCount { replay.addHead(Array(region(index, of: file).prefix(32)), index: index) }
        for index in replay.readingOrder { replay.addRegion(region(index, of: file), index: index) }
        replay.finish()
        return replay
    }

    /// The file that the input describes, with the checksums that its records need.
    private static func image(of input: Span<UInt8>) -> [UInt8] {
        var (file, bytes) = ([UInt8](repeating: 0, count: layout.byteCount), Bytes(input))
        var (index, region, seed) = (0, head(epoch: 1, index: 0), Self.seed(epoch: 1))
        while let type = bytes.next(), index < 8 {
            let (flags, payload) = (bytes.next() ?? 0, bytes.take(bytes.number()))
            let byteCount = (12 + payload.count + 7) & ~7
            if type < 128, region.count + byteCount <= layout.regionByteCount {
                region += record(type, flags, payload, seed: &seed)
                continue
            }
            put(region, index, &file)
            (index, region) = (index + 1, head(epoch: UInt64(index + 2), index: index + 1))
            seed = Self.seed(epoch: UInt64(index + 1))
        }
        put(region, index, &file)
        return file
    }

    private static func put(_ region: [UInt8], _ index: Int, _ file: inout [UInt8]) {
        let start = Int(layout.offset(ofRegion: index))
        file.replaceSubrange(start..<start + region.count, with: region)
    }

    private static func head(epoch: UInt64, index: Int) -> [UInt8] {
        var bytes = Array("psregion".utf8) + little(epoch, 8) + little(UInt64(index), 4) + little(0, 8)
        bytes += little(UInt64(CRC32C.checksum(bytes.span)), 4)
        return bytes
    }

    private static func seed(epoch: UInt64) -> UInt32 {
        CRC32C.checksum(little(epoch, 8).span)
    }

    private static func record(
        _ type: UInt8, _ flags: UInt8, _ payload: [UInt8], seed: inout UInt32
    ) -> [UInt8] {
        var bytes = little(UInt64(payload.count), 4) + [type & 31, flags & 1, 0, 0] + payload
        while bytes.count % 8 != 4 { bytes.append(0) }
        let checksum = CRC32C.checksum(bytes.span, seed: seed)
        // BEGUN: its salt counts for what follows.
        if type & 31 == 16, payload.count == 4 { seed = CRC32C.checksum(payload.span, seed: seed) }
        return little(UInt64(checksum), 4) + bytes
    }

    private static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }
}
