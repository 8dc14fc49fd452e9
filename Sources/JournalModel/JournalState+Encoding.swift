import JobFormat
import PushModel

extension JournalPublication {
    func write(to bytes: inout [UInt8]) {
        bytes.appendText(app)
        bytes.appendBytes(feedback.bytes)
        bytes.appendInteger(through.epoch)
        bytes.appendNumber(through.offset)
        if let since { bytes.appendPosition(since) }
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let (app, feedback) = (try decoder.text(), try decoder.name())
        self.init(app: app, feedback: feedback, through: try decoder.position())
        if !decoder.isAtEnd { since = try decoder.position() }
    }
}

extension JournalSubject {
    func write(to bytes: inout [UInt8]) {
        bytes.appendText(app)
        bytes.appendBytes(name.bytes)
        bytes.appendInteger(device)
        bytes.appendInteger(inode)
        bytes.appendInteger(changedAt.nanoseconds)
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        self.init(app: try decoder.text(), name: try decoder.name())
        device = try decoder.integer(UInt64.self)
        inode = try decoder.integer(UInt64.self)
        changedAt = try decoder.time()
    }
}

extension JournalSuspicion {
    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        self.init(deathCount: try decoder.number(), wasAlone: try decoder.flag())
    }
}

extension JournalRuns {
    /// Set in addition to the kind if the ranges are written as one bit per index.
    private static let bitmapFlag: UInt8 = 0x80

    func write(to bytes: inout [UInt8]) {
        guard let bitmap = IndexBitmap(ifSmaller: ranges) else {
            bytes.append(kind.rawValue)
            bytes.appendRanges(ranges)
            return
        }
        bytes.append(kind.rawValue | Self.bitmapFlag)
        bytes.appendNumber(bitmap.first)
        bytes.appendBytes(bitmap.bits)
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let number = try decoder.byte()
        guard let kind = Kind(rawValue: number & ~Self.bitmapFlag) else { throw JournalMalformed() }
        guard number & Self.bitmapFlag != 0 else {
            self.init(kind: kind, ranges: try decoder.ranges())
            return
        }
        let bitmap = IndexBitmap(first: try decoder.number(), bits: try decoder.data())
        self.init(kind: kind, ranges: bitmap.ranges)
    }
}

extension JournalUntold {
    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        self.init(origin: try decoder.position(), result: try JournalResult(from: &decoder))
    }
}

extension JournalSyncMark {
    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        self.init(salt: try decoder.integer(UInt32.self), through: Int(try decoder.integer(UInt32.self)))
    }
}

extension JournalCheckpoint {
    func write(to bytes: inout [UInt8]) {
        bytes.appendNumber(recordCount)
        bytes.appendFlag(isClaimed)
        bytes.appendFlag(isFinalTold)
        bytes.appendFlag(isDamaged)
        bytes.appendTally(tally)
        bytes.appendFlag(isAbridged)
        bytes.appendFlag(finalOrigin != nil)
        if let finalOrigin { bytes.appendPosition(finalOrigin) }
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let recordCount = try decoder.number()
        let (isClaimed, isFinalTold, isDamaged) = (try decoder.flag(), try decoder.flag(), try decoder.flag())
        self.init(
            recordCount: recordCount, isClaimed: isClaimed, isFinalTold: isFinalTold, isDamaged: isDamaged,
            tally: try decoder.tally())
        // Version 3 ended here.
        guard !decoder.isAtEnd else { return }
        isAbridged = try decoder.flag()
        finalOrigin = try decoder.flag() ? try decoder.position() : nil
    }
}
