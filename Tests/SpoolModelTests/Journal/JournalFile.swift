import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport

/// A journal's file in memory.
struct JournalFile {
    /// Small regions, so that a test goes round the ring.
    static let layout = JournalLayout(byteCount: 4096 + 12 * 16_384, regionByteCount: 16_384)

    let layout: JournalLayout
    var bytes: [UInt8]

    init(layout: JournalLayout = layout) {
        self.layout = layout
        self.bytes = [UInt8](repeating: 0, count: layout.byteCount)
    }

    /// Writes what the book has, and returns it.
    @discardableResult
    mutating func write(_ book: inout JournalBook) -> [JournalWrite] {
        let writes = book.takeWrites()
        for write in writes { bytes.replaceSubrange(write.range, with: write.bytes) }
        return writes
    }

    /// Writes a beginning of it: so many bytes.
    mutating func write(_ writes: [JournalWrite], first count: Int) {
        var rest = count
        for write in writes {
            let part = write.range.prefix(rest)
            bytes.replaceSubrange(part, with: write.bytes.prefix(part.count))
            rest -= part.count
        }
    }

    /// Writes those of its sectors that chance lets through.
    mutating func write(_ writes: [JournalWrite], chance: Double, using random: inout SeededGenerator) {
        for write in writes {
            var start = write.range.lowerBound
            while start < write.range.upperBound {
                let end = min(write.range.upperBound, (start / 512 + 1) * 512)
                if Double.random(in: 0..<1, using: &random) < chance {
                    let first = start - write.range.lowerBound
                    bytes.replaceSubrange(start..<end, with: write.bytes[first..<first + end - start])
                }
                start = end
            }
        }
    }

    func region(_ index: Int) -> [UInt8] {
        let start = Int(layout.offset(ofRegion: index))
        return Array(bytes[start..<start + layout.regionByteCount])
    }

    func replay() -> JournalReplay {
        var replay = JournalReplay(layout: layout)
        for index in (0..<layout.regionCount).reversed() {
            replay.addHead(Array(region(index).prefix(JournalReplay.headByteCount)), index: index)
        }
        for index in replay.readingOrder { replay.addRegion(region(index), index: index) }
        replay.finish()
        return replay
    }

    /// The header of a live job, read as the shell reads it.
    func header(_ job: JournalJob, _ book: JournalBook) -> JournalHeader? {
        book.fileOffset(of: job.position).flatMap { offset in
            JournalReplay.header(of: job, in: Array(bytes[Int(offset)..<Int(offset) + job.headerByteCount]))
        }
    }
}

extension JournalWrite {
    /// Which bytes of the file.
    var range: Range<Int> { Int(offset)..<Int(offset) + bytes.count }
}

extension JournalBook {
    /// An empty journal's.
    static func fresh(_ layout: JournalLayout = JournalFile.layout) throws -> JournalBook {
        var book = try JournalBook(layout: layout, after: nil, salt: 7)
        book.share(among: ["weather"])
        return book
    }

    /// The next daemon's.
    static func next(_ file: JournalFile, salt: UInt32) throws -> JournalBook {
        var book = try JournalBook(layout: file.layout, after: file.replay(), salt: salt)
        book.share(among: ["weather"])
        return book
    }
}

enum JournalSample {
    static let noon = WallTime(epochSeconds: 1_795_262_400)
    static let gone = Outcome.rejected(
        Refusal(status: 410, reason: "Unregistered", verdict: .gone, goneSince: WallTime(epochSeconds: 1_700_000_000)))

    static func name(_ text: String) -> FileName {
        guard let name = FileName(text) else { preconditionFailure("no file name: \(text)") }
        return name
    }

    static func id(_ number: Int) -> JobID {
        JobID(bits: UInt128(number) << 100 | UInt128(number))
    }

    static func header(
        _ number: Int, recipients: Int = 50, content: JournalHeader.Content = .bytes(Array("{}".utf8))
    ) -> JournalHeader {
        var facts = JournalHeader.Facts(id: id(number), app: "weather", name: name("job-\(number).json"))
        facts.byteCount = 2
        facts.recipientCount = recipients
        (facts.device, facts.inode) = (66, UInt64(number))
        (facts.droppedAt, facts.claimedAt) = (noon, noon)
        return JournalHeader(facts, content: content)
    }

    static func final(_ job: JournalJob) -> JournalFinal {
        JournalFinal(
            Conclusion(tally: job.tally, fault: nil), day: "2026-11-21", name: job.facts.name, finishedAt: noon)
    }

    static func subject(_ text: String) -> JournalSubject {
        var subject = JournalSubject(app: "weather", name: name(text))
        (subject.device, subject.inode, subject.changedAt) = (66, UInt64(text.utf8.count), noon)
        return subject
    }
}
