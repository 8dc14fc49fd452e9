import JobFormat
import PushModel

extension JournalRecord {
    static let headerType: UInt8 = 1
    static let syncedType: UInt8 = 18

    /// The type number in the file.
    var type: UInt8 {
        switch self {
        case .header: Self.headerType
        case .claimed: 2
        case .intent: 3
        case .result: 4
        case .reopened: 5
        case .final: 6
        case .published: 7
        case .cleaned: 8
        case .runs: 9
        case .checkpoint: 10
        case .start: 11
        case .ended: 12
        case .suspect: 13
        case .stopped: 14
        case .end: 15
        case .begun: 16
        case .untold: 17
        case .synced: Self.syncedType
        case .distrusted: 19
        }
    }

    func writePayload(to bytes: inout [UInt8]) {
        switch self {
        case .header(let header): header.write(to: &bytes)
        case .claimed(let id), .cleaned(let id): bytes.appendID(id)
        case .intent(let id, let ranges), .reopened(let id, let ranges):
            bytes.appendID(id)
            bytes.appendRanges(ranges)
        case .result(let id, let result):
            bytes.appendID(id)
            result.write(to: &bytes)
        case .final(let id, let final):
            bytes.appendID(id)
            final.write(to: &bytes)
        case .published(let publication): publication.write(to: &bytes)
        case .runs(let id, let runs):
            bytes.appendID(id)
            runs.write(to: &bytes)
        case .untold(let id, let untold):
            bytes.appendID(id)
            bytes.appendPosition(untold.origin)
            untold.result.write(to: &bytes)
        case .synced(let mark):
            bytes.appendInteger(mark.salt)
            bytes.appendInteger(UInt32(truncatingIfNeeded: mark.through))
        case .checkpoint(let id, let checkpoint):
            bytes.appendID(id)
            checkpoint.write(to: &bytes)
        case .start(let subject), .ended(let subject): subject.write(to: &bytes)
        case .suspect(let subject, let suspicion):
            subject.write(to: &bytes)
            bytes.appendNumber(suspicion.deathCount)
            bytes.appendFlag(suspicion.wasAlone)
        case .begun(let salt): bytes.appendInteger(salt)
        case .stopped, .end, .distrusted: break
        }
    }

    init(type: UInt8, from decoder: inout JournalDecoder) throws(JournalMalformed) {
        switch type {
        case 1: self = .header(try JournalHeader(from: &decoder))
        case 2: self = .claimed(try decoder.job())
        case 3: self = .intent(try decoder.job(), try decoder.ranges())
        case 4: self = .result(try decoder.job(), try JournalResult(from: &decoder))
        case 5: self = .reopened(try decoder.job(), try decoder.ranges())
        case 6: self = .final(try decoder.job(), try JournalFinal(from: &decoder))
        case 7: self = .published(try JournalPublication(from: &decoder))
        case 8: self = .cleaned(try decoder.job())
        case 9: self = .runs(try decoder.job(), try JournalRuns(from: &decoder))
        case 10: self = .checkpoint(try decoder.job(), try JournalCheckpoint(from: &decoder))
        case 11: self = .start(try JournalSubject(from: &decoder))
        case 12: self = .ended(try JournalSubject(from: &decoder))
        case 13: self = .suspect(try JournalSubject(from: &decoder), try JournalSuspicion(from: &decoder))
        case 14: self = .stopped
        case 15: self = .end
        case 16: self = .begun(salt: try decoder.integer(UInt32.self))
        case 17: self = .untold(try decoder.job(), try JournalUntold(from: &decoder))
        case Self.syncedType: self = .synced(try JournalSyncMark(from: &decoder))
        case 19: self = .distrusted
        default: throw JournalMalformed()
        }
        guard decoder.isAtEnd else { throw JournalMalformed() }
    }
}

extension JournalHeader {
    func write(to bytes: inout [UInt8]) {
        bytes.appendID(facts.id)
        bytes.appendText(facts.app)
        bytes.appendBytes(facts.name.bytes)
        bytes.appendNumber(Int(facts.byteCount))
        bytes.appendNumber(facts.recipientCount)
        bytes.appendFlag(facts.onDoubt == .report)
        bytes.appendFlag(facts.recordsAll)
        bytes.appendFlag(facts.isKnownComplete)
        bytes.appendFlag(facts.isPublishedByRename)
        bytes.appendFlag(facts.isSentAnyway)
        bytes.appendInteger(facts.droppedAt.nanoseconds)
        bytes.appendInteger(facts.claimedAt.nanoseconds)
        bytes.appendInteger(facts.device)
        bytes.appendInteger(facts.inode)
        bytes.appendFlag(holdsBytes)
        switch content {
        case .bytes(let content): bytes.appendBytes(content)
        case .checks(let checks):
            bytes.appendNumber(checks.count)
            for check in checks { bytes.appendInteger(check) }
        }
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        var facts = Facts(id: try decoder.job(), app: try decoder.text(), name: try decoder.name())
        facts.byteCount = Int64(try decoder.number())
        facts.recipientCount = try decoder.number()
        facts.onDoubt = try decoder.flag() ? .report : .resend
        facts.recordsAll = try decoder.flag()
        facts.isKnownComplete = try decoder.flag()
        facts.isPublishedByRename = try decoder.flag()
        facts.isSentAnyway = try decoder.flag()
        facts.droppedAt = try decoder.time()
        facts.claimedAt = try decoder.time()
        facts.device = try decoder.integer(UInt64.self)
        facts.inode = try decoder.integer(UInt64.self)
        self.init(facts, content: .bytes([]))
        guard try decoder.flag() else {
            content = .checks(try Self.checks(from: &decoder))
            return
        }
        content = .bytes(try decoder.data())
    }

    private static func checks(from decoder: inout JournalDecoder) throws(JournalMalformed) -> [UInt32] {
        var checks: [UInt32] = []
        for _ in 0..<(try decoder.number()) { checks.append(try decoder.integer(UInt32.self)) }
        return checks
    }
}
