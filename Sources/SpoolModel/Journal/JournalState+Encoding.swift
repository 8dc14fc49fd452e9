import APNSModel

extension JournalPublication {
    func write(to bytes: inout [UInt8]) {
        bytes.appendText(app)
        bytes.appendBytes(feedback.bytes)
        bytes.appendInteger(through.epoch)
        bytes.appendNumber(through.offset)
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let (app, feedback) = (try decoder.text(), try decoder.name())
        let through = JournalPosition(epoch: try decoder.integer(UInt64.self), offset: try decoder.number())
        self.init(app: app, feedback: feedback, through: through)
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
    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        guard let kind = Kind(rawValue: try decoder.byte()) else { throw JournalMalformed() }
        self.init(kind: kind, ranges: try decoder.ranges())
    }
}

extension JournalCheckpoint {
    func write(to bytes: inout [UInt8]) {
        bytes.appendNumber(recordCount)
        bytes.appendFlag(isClaimed)
        bytes.appendFlag(isFinalTold)
        bytes.appendFlag(isDamaged)
        bytes.appendTally(tally)
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let recordCount = try decoder.number()
        let (isClaimed, isFinalTold, isDamaged) = (try decoder.flag(), try decoder.flag(), try decoder.flag())
        self.init(
            recordCount: recordCount, isClaimed: isClaimed, isFinalTold: isFinalTold, isDamaged: isDamaged,
            tally: try decoder.tally())
    }
}
