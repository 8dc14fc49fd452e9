import Document
import JobFormat
import PushModel

/// A journal as text for people, one line per record. Contains no tokens and no payloads.
package enum JournalText {
    /// Describes one region: its head, each record up to its END or the first invalid one, and why it ends.
    ///
    /// - Parameters:
    ///   - bytes: The whole region.
    ///   - index: The index of the region.
    /// - Returns: The lines, without line feeds.
    package static func lines(ofRegion bytes: [UInt8], index: Int) -> [String] {
        guard let head = JournalRegionHead(bytes: bytes, index: index) else {
            let isBlank = !bytes.prefix(JournalRegionHead.byteCount).contains { $0 != 0 }
            return ["region \(index): \(isBlank ? "never used" : "its head is damaged")"]
        }
        var lines = [
            "region \(index): epoch \(head.epoch)\(head.isFirstOfRun ? ", begun at a start of the daemon" : "")"
        ]
        var reader = JournalRegionReader(bytes, epoch: head.epoch)
        while let entry = reader.next() {
            lines.append(line(of: entry))
        }
        lines.append("\(reader.offset) \(reader.isComplete ? "END" : "no valid record follows")")
        return lines
    }

    /// Describes one region for programs: one object per record, up to its END or the first invalid one.
    ///
    /// - Parameters:
    ///   - bytes: The whole region.
    ///   - index: The index of the region.
    /// - Returns: JSON objects, each with a line feed: `region`, `epoch`, `offset`, `carried`, `record` and `text`.
    ///   `record` is the first word of the description in ``lines(ofRegion:index:)``, `text` the rest.
    package static func json(ofRegion bytes: [UInt8], index: Int) -> [UInt8] {
        guard let head = JournalRegionHead(bytes: bytes, index: index) else { return [] }
        var reader = JournalRegionReader(bytes, epoch: head.epoch)
        var writer = JSONWriter()
        while let entry = reader.next() {
            let words = entry.record.line.split(separator: " ", maxSplits: 1)
            writer.startLine()
            writer.beginObject()
            writer.member("region", index)
            writer.member("epoch", Int(clamping: head.epoch))
            writer.member("offset", entry.position.offset)
            writer.key("carried")
            writer.boolean(entry.isCarried)
            writer.member("record", String(words[0]))
            writer.member("text", words.count > 1 ? String(words[1]) : nil)
            writer.endObject()
            writer.bytes.append(UInt8(ascii: "\n"))
        }
        return writer.bytes
    }

    /// Describes one record: its offset in the region and its content.
    package static func line(of entry: JournalEntry) -> String {
        "\(entry.position.offset)\(entry.isCarried ? " carried" : "") \(entry.record.line)"
    }
}

extension JournalRecord {
    /// The record in one line.
    fileprivate var line: String {
        switch self {
        case .header(let header): "HEADER \(header.line)"
        case .claimed(let id): "CLAIMED \(id)"
        case .intent(let id, let ranges): "INTENT \(id) \(text(ranges))"
        case .result(let id, let result): "RESULT \(id) \(result.line)"
        case .reopened(let id, let ranges): "REOPENED \(id) \(text(ranges))"
        case .final(let id, let final): "FINAL \(id) \(final.line)"
        case .published(let publication):
            "PUBLISHED \(quoted(publication.app)) \(publication.feedback) through \(publication.through.line)"
                + (publication.since.map { " since \($0.line)" } ?? "")
        case .cleaned(let id): "CLEANED \(id)"
        case .runs(let id, let runs): "RUNS \(id) \(runs.kind) \(text(runs.ranges))"
        case .untold(let id, let untold): "UNTOLD \(id) of \(untold.origin.line) \(untold.result.line)"
        case .checkpoint(let id, let checkpoint):
            "CHECKPOINT \(id) records \(checkpoint.recordCount) \(checkpoint.tally.line)"
                + words((checkpoint.isClaimed, "claimed"), (checkpoint.isFinalTold, "told"))
                + words((checkpoint.isDamaged, "damaged"), (checkpoint.isAbridged, "abridged"))
        case .start(let subject): "START \(subject.line)"
        case .ended(let subject): "ENDED \(subject.line)"
        case .suspect(let subject, let suspicion):
            "SUSPECT \(subject.line) deaths \(suspicion.deathCount)" + words((suspicion.wasAlone, "alone"))
        case .stopped: "STOPPED"
        case .synced(let mark): "SYNCED through \(mark.through)"
        case .distrusted: "DISTRUSTED"
        case .end: "END"
        case .begun: "BEGUN"
        }
    }
}

extension JournalHeader {
    fileprivate var line: String {
        let kept =
            switch content {
            case .bytes(let bytes): "\(bytes.count) bytes kept"
            case .checks(let checks): "\(checks.count) checksums"
            }
        let recipients = facts.recipientCount == 1 ? "1 recipient" : "\(facts.recipientCount) recipients"
        return "\(facts.id) \(quoted(facts.app)) \(facts.name) \(facts.byteCount) bytes, "
            + "\(recipients), \(kept), claimed \(facts.claimedAt.rfc3339)"
            + words(
                (facts.onDoubt == .report, "on_doubt: report"), (facts.recordsAll, "record: all"),
                (facts.isSentAnyway, "sent anyway"))
    }
}

extension JournalResult {
    fileprivate var line: String {
        var line = "\(outcome.kind.rawValue) \(text(ranges)) at \(at.rfc3339)" + words((isCorrection, "correction"))
        guard let refusal = outcome.refusal else { return line }
        if let status = refusal.status { line += " status \(status)" }
        line += " reason \(quoted(refusal.reason)) verdict \(refusal.verdict.rawValue)"
        if let goneSince = refusal.goneSince { line += " gone since \(goneSince.rfc3339)" }
        if let detail = refusal.detail { line += " detail \(quoted(detail))" }
        return line
    }
}

extension JournalFinal {
    fileprivate var line: String {
        var line = "\(conclusion.state.rawValue)/\(quoted(day))/\(name)"
        if let code = conclusion.code { line += " \(code.rawValue)" }
        if let earlier { line += " of \(earlier.id)" }
        line += " \(conclusion.tally.line) at \(finishedAt.rfc3339)"
        if let why { line += ": \(quoted(why))" }
        return line
    }
}

extension JournalSubject {
    fileprivate var line: String {
        "\(quoted(app)) \(name) device \(device) inode \(inode) changed \(changedAt.rfc3339)"
    }
}

extension JournalPosition {
    fileprivate var line: String { "\(epoch)+\(offset)" }
}

extension Tally {
    fileprivate var line: String {
        Outcome.Kind.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: " ")
    }
}

/// Escapes text from a file for use in a line.
private func quoted(_ text: String) -> String {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.map { FileName(bytes: Array($0))?.escaped ?? "" }.joined(separator: "/")
}

/// Formats ranges with their last index included; cuts a long list.
private func text(_ ranges: [Range<Int>]) -> String {
    let shown = ranges.prefix(8).map { range in
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
    }
    let rest = ranges.count > 8 ? ", … \(ranges.count) ranges" : ""
    return "[" + shown.joined(separator: ", ") + rest + "]"
}

private func words(_ marks: (isSet: Bool, word: String)...) -> String {
    marks.filter(\.isSet).map { " \($0.word)" }.joined()
}
