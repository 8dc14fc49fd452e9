package import Document
import JobFormat
package import JournalModel
package import PushModel

/// The content of `<name>.result.json`, next to an archived job of which not everything was accepted.
///
/// One JSON object, one member per line. Indexes are runs `[first, last]`, the last included. A member without a value
/// is omitted, and so are the indexes of an outcome that no notification has.
package struct ResultFile: Sendable {
    /// How the job ended.
    package var report: JobReport
    /// The reason in words; `nil` if the code says enough.
    package var why: String?
    /// The errors and warnings found in the job file.
    package var findings = Report()
    /// The number of notifications by outcome, except accepted ones, and by reason. Those from before a restart are missing, so
    /// they are not in the file: the next start recognizes a file that a crash has left by its bytes.
    package var reasons: [Outcome.Kind: [String: Int]] = [:]
    /// The indexes by outcome, except accepted ones.
    package var runs: [Outcome.Kind: IndexRuns] = [:]
    /// Whether `rejected` or `expired` is incomplete: scattered runs may not survive a restart. Counts and feedback
    /// lines are complete.
    package var isAbridged = false

    /// Creates the result of a job that needs no explanation.
    package init(_ report: JobReport) {
        self.report = report
    }

    /// Creates what the journal knows of the result of a job that has ended.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - final: Its end.
    ///   - path: The path of its file, relative to the spool.
    package init(of job: JournalJob, _ final: JournalFinal, path: String) {
        let facts = job.facts
        report = JobReport(
            JobIdentity(name: facts.name, id: facts.id), final.conclusion, notificationCount: facts.recipientCount,
            at: final.finishedAt)
        (report.path, report.droppedAt, report.claimedAt) = (path, facts.droppedAt, facts.claimedAt)
        report.earlier = final.earlier
        (why, runs, isAbridged) = (final.why, job.runs, job.isAbridged)
    }

    /// Whether a job with this conclusion and number of recipients gets a result file. Most do not, so ask first.
    package static func isNeeded(for conclusion: Conclusion, notificationCount: Int) -> Bool {
        conclusion.state == .failed || conclusion.tally.accepted != notificationCount
    }

    /// The file's content.
    package var bytes: [UInt8] { content(with: []) }

    private func content(with more: [[UInt8]]) -> [UInt8] {
        var lines = head + more
        if findings.errorCount + findings.warningCount > 0 {
            lines.append(member("errors") { $0.integer(findings.errorCount) })
            lines.append(member("warnings") { $0.integer(findings.warningCount) })
            lines.append(member("diagnostics", writeDiagnostics))
        }
        if runs.contains(where: { !$0.value.isEmpty }) { lines.append(member("indexes", writeIndexes)) }
        if isAbridged { lines.append(member("indexes_incomplete", writeIncomplete)) }
        return Array("{\n  ".utf8) + Array(lines.joined(separator: Array(",\n  ".utf8))) + Array("\n}\n".utf8)
    }

    /// The content on one line, with the reasons; if it has more than `limit` bytes, without indexes and with the first 20
    /// findings.
    func line(limit: Int) -> [UInt8] {
        let more = reasons.isEmpty ? [] : [member("reasons", writeReasons)]
        let line = content(with: more).filter { $0 != UInt8(ascii: "\n") }
        guard line.count > limit else { return line }
        var short = self
        (short.runs, short.isAbridged, short.findings) = ([:], true, Report())
        for finding in findings.inOrder.prefix(20) { short.findings.add(finding) }
        short.findings.count(
            errors: findings.errorCount - short.findings.errorCount,
            warnings: findings.warningCount - short.findings.warningCount)
        return short.content(with: more).filter { $0 != UInt8(ascii: "\n") }
    }

    private var head: [[UInt8]] {
        let conclusion = report.conclusion
        var lines = [member("v") { $0.integer(FeedbackLine.version) }]
        let texts: [(String, String?)] = [
            ("job", report.identity.name.escaped), ("id", report.identity.id.description),
            ("ref", report.identity.ref), ("state", conclusion.state.rawValue), ("code", conclusion.code?.rawValue),
            ("why", why ?? growth), ("duplicate_of", report.earlier?.id.description),
            ("duplicate_of_at", report.earlier?.endedAt.rfc3339), ("dropped_at", report.droppedAt.rfc3339),
            ("claimed_at", report.claimedAt?.rfc3339), ("finished_at", report.finishedAt.rfc3339),
        ]
        for case (let name, let text?) in texts { lines.append(member(name) { $0.string(text) }) }
        lines.append(
            member("counts") { writer in
                writer.beginObject()
                report.write(to: &writer)
                writer.endObject()
            })
        if report.unreadByteCount > 0 {
            lines.append(member("unread_bytes") { $0.integer(Int(report.unreadByteCount)) })
        }
        if !report.uniqueIDs.isEmpty { lines.append(member("unique_ids", report.writeUniqueIDs)) }
        return lines
    }

    private var growth: String? {
        report.unreadByteCount > 0 ? "the file grew after it was claimed; drop the added part as a new job" : nil
    }

    private func member(_ name: String, _ value: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.key(name)
        writer.bytes.append(UInt8(ascii: " "))
        value(&writer)
        return writer.bytes
    }

    /// Writes the names of the incomplete lists, found by comparing them with the counts.
    private func writeIncomplete(to writer: inout JSONWriter) {
        let tally = report.conclusion.tally
        writer.beginArray()
        for kind in [Outcome.Kind.rejected, .expired] where runs[kind]?.count ?? 0 < tally[kind] {
            writer.string(kind.rawValue)
        }
        writer.endArray()
    }

    private func writeReasons(to writer: inout JSONWriter) {
        writer.reasons(Outcome.Kind.allCases.compactMap { kind in reasons[kind].map { (kind.rawValue, $0) } })
    }

    private func writeDiagnostics(to writer: inout JSONWriter) {
        writer.beginArray()
        for diagnostic in findings.inOrder { diagnostic.write(to: &writer) }
        writer.endArray()
    }

    private func writeIndexes(to writer: inout JSONWriter) {
        writer.beginObject()
        for kind in Outcome.Kind.allCases { writer.member(kind.rawValue, runs[kind] ?? IndexRuns()) }
        writer.endObject()
    }
}

extension Diagnostic {
    /// Writes the diagnostic as an object with `severity`, `line`, `column`, `path`, `message` and `hint`, each if present.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("severity", severity.rawValue)
        if let place {
            writer.member("line", place.line)
            writer.member("column", place.column)
        }
        writer.member("path", path)
        writer.member("message", message)
        writer.member("hint", hint)
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes an object for each of these outcomes, with the number of notifications by reason.
    package mutating func reasons(_ outcomes: [(name: String, counts: [String: Int])]) {
        beginObject()
        for (name, counts) in outcomes {
            key(name)
            beginObject()
            for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { member(reason, count) }
            endObject()
        }
        endObject()
    }
}
