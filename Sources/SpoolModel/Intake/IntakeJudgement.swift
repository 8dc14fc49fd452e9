import JobFormat
import PushModel

/// Judges one file by the facts known at one moment.
struct IntakeJudgement: Sendable {
    /// Whether a file that was just seen may be taken.
    enum Readiness: Hashable, Sendable {
        /// Now, in its turn.
        case now(WallTime)
        /// Not before this moment.
        case later(Moment)
        /// Never: the job fails with this code.
        case failing(ResultCode)
        /// Never: it is not a regular file.
        case special
    }

    let rules: IntakeRules
    let entry: IntakeEntry
    let now: Moment

    /// Returns whether the file may be taken.
    func readiness(isRsyncRunning: Bool) -> Readiness {
        guard let sighting = entry.sighting else { return .later(now) }
        if sighting.kind == .special { return .special }
        if let retryAt = entry.retryAt, retryAt > now { return .later(retryAt) }
        if sighting.isUnfinishedRsync, let moment = rsyncDeadline(isRunning: isRsyncRunning), moment > now {
            return .later(moment)
        }
        if sighting.byteCount == 0 {
            let deadline = entry.isPublishedByRename ? now : entry.stableSince + rules.patience
            return deadline <= now ? .failing(.incomplete) : .later(deadline)
        }
        let settled = entry.isPublishedByRename ? now : entry.stableSince + (rules.settle - entry.age)
        return settled <= now ? .now(entry.order ?? sighting.identity.changedAt) : .later(settled)
    }

    /// Returns what to do with the file after its reading.
    func decision(on reading: IntakeReading) -> IntakeDecision {
        let isUnfinished = entry.sighting?.isUnfinishedRsync == true
        if entry.isPublishedByRename, !isUnfinished { return reading.failure.map(IntakeDecision.fail) ?? .claim }
        if reading.failure == nil, reading.isSealed { return .claim }
        let mayGrow = mayGrow(reading)
        guard now >= entry.stableSince + (mayGrow ? rules.markPatience : rules.patience) else { return .wait }
        if let failure = reading.failure { return .fail(failure) }
        let needsSeal = isUnfinished || mayGrow || rules.requireEnd == .inPlace
        return needsSeal || !reading.endsInNewline ? .fail(.incomplete) : .claim
    }

    /// Whether the file, however long it has been quiet, may be one that another host still writes.
    func mayGrow(_ reading: IntakeReading) -> Bool {
        rules.isShared && !reading.isSealed && entry.sighting?.wasWrittenLast == true
    }

    /// Returns the deadline of a file that rsync marked as unfinished: an hour while rsync runs, else the usual patience.
    private func rsyncDeadline(isRunning: Bool) -> Moment? {
        isRunning ? entry.noticedAt + rules.rsyncPatience : entry.stableSince + rules.patience
    }
}

extension FileName {
    /// The final name of an rsync temporary file with this name: `job.json` for `.job.json.Xa81kZ`.
    var rsyncTarget: FileName? {
        guard bytes.count > 8, bytes[0] == UInt8(ascii: "."), bytes[bytes.count - 7] == UInt8(ascii: "."),
            bytes.suffix(6).allSatisfy({ $0.isASCIILetterOrDigit })
        else { return nil }
        return FileName(bytes: Array(bytes[1..<bytes.count - 7])).flatMap { $0.isJob ? $0 : nil }
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
