import Document
import JobFormat
import JournalModel
import PushModel
import ServiceProcess
import SpoolModel

extension JobCase {
    /// The job as text for people.
    package var text: [String] {
        var lines = ["\(app)/\(name)  \(state)"]
        for (key, value) in facts {
            lines.append("  \(key)" + String(repeating: " ", count: max(1, 10 - key.count)) + value)
        }
        if !faults.isEmpty {
            lines.append("  diagnostics")
            lines += faults.map { "  " + $0 }
        }
        for (what, count) in refusals.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("  feedback  \(count) × \(what)")
        }
        for (index, id) in outcomes.uniqueIDs.sorted(by: { $0.key < $1.key }) {
            lines.append("  Apple's id of index \(index): \(id)")
        }
        for journal in journals {
            lines.append("  journal of node \(journal.node)")
            lines += journal.lines.map { "    " + $0 }
        }
        // Reasons come from gateways, and any user may have written a result file.
        return lines.map { $0.withoutControls }
    }

    /// The identity and the history of the job, each with a key of at most 9 characters.
    private var facts: [(String, String)] {
        let known: [(String, String?)] = [
            ("id", id?.description), ("ref", ref),
            ("file", file.map { "\($0.path), \($0.byteCount) bytes, since \($0.since.rfc3339)" }),
            ("node", file?.node.map { $0 + (nodeWords.map { ": " + $0 } ?? "") }),
            ("waits", notBefore.map { "until \($0.rfc3339)" } ?? waitReason), ("dropped", droppedAt?.rfc3339),
            ("claimed", claimedAt?.rfc3339), ("finished", account?.finishedAt?.rfc3339),
            ("code", account?.code), ("why", account?.why), ("counts", counts.map(Self.words)),
            ("progress", progress?.inWords),
        ]
        var facts: [(String, String)] = []
        for case (let key, let value?) in known { facts.append((key, value)) }
        for list in lists { facts.append((list.word, list.text)) }
        return facts
    }

    private var droppedAt: WallTime? { remainder?.droppedAt ?? account?.droppedAt ?? live?.facts.droppedAt }

    private var claimedAt: WallTime? { account?.claimedAt ?? live?.facts.claimedAt }

    private static func words(_ counts: (notifications: Int, tally: Tally)) -> String {
        let kinds = Outcome.Kind.allCases.filter { counts.tally[$0] != 0 }
        let outcomes = kinds.map { "\(counts.tally[$0]) \($0.rawValue)" }
        return ([counts.notifications.of("notification")] + outcomes).joined(separator: ", ")
    }

    /// The job as one JSON object and a line feed.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", app)
        writer.member("job", name)
        writer.member("id", id?.description)
        writer.member("ref", ref)
        writer.member("state", state)
        writer.member("path", file?.path)
        writer.member("node", file?.node)
        if let file {
            writer.member("bytes", Int(file.byteCount))
            writer.member("since", file.since.rfc3339)
        }
        writer.member("not_before", notBefore?.rfc3339)
        writer.member("reason", waitReason)
        writer.member("code", account?.code)
        writer.member("why", account?.why)
        writer.member("dropped_at", droppedAt?.rfc3339)
        writer.member("claimed_at", claimedAt?.rfc3339)
        writer.member("finished_at", account?.finishedAt?.rfc3339)
        writeCounts(to: &writer)
        if let diagnostics {
            writer.key("diagnostics")
            writer.raw(diagnostics)
        }
        if !outcomes.uniqueIDs.isEmpty {
            writer.key("unique_ids")
            writer.beginObject()
            for (index, id) in outcomes.uniqueIDs.sorted(by: { $0.key < $1.key }) { writer.member(String(index), id) }
            writer.endObject()
        }
        writeLists(to: &writer)
        writeJournals(to: &writer)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private func writeCounts(to writer: inout JSONWriter) {
        if let counts {
            writer.key("counts")
            writer.beginObject()
            writer.member("notifications", counts.notifications)
            if account != nil || live != nil || remainder != nil { counts.tally.write(to: &writer) }
            writer.endObject()
        }
        if !refusals.isEmpty {
            writer.key("feedback")
            writer.beginObject()
            for (what, count) in refusals.sorted(by: { $0.key < $1.key }) { writer.member(what, count) }
            writer.endObject()
        }
    }

    private func writeLists(to writer: inout JSONWriter) {
        guard !lists.isEmpty else { return }
        writer.key("indexes")
        writer.beginObject()
        for list in lists {
            writer.key(list.word)
            writer.beginArray()
            for run in list.runs { writer.raw("[\(run.lowerBound),\(run.upperBound)]".utf8) }
            writer.endArray()
        }
        writer.endObject()
    }

    private func writeJournals(to writer: inout JSONWriter) {
        guard !journals.isEmpty else { return }
        writer.key("journal")
        writer.beginArray()
        for line in journals.flatMap(\.lines) { writer.string(line) }
        writer.endArray()
    }
}
