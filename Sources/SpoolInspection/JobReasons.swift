package import Document
import JSON
import JobFormat
package import PushModel
import SpoolClient

/// The reasons why notifications of a job were not accepted, counted from feedback.
package struct JobReasons {
    private var counts: [String: [String: Int]] = [:]

    /// Reads an app's feedback published since `start`, except files that are unreadable or were removed.
    package init(of job: String, app: String, spool: String, since start: WallTime) {
        guard let reader = try? FeedbackReader(app: app, spool: spool), let files = try? reader.files() else { return }
        var parser = JSON.Parser()
        let first = start.compact
        // Ignore files that have been removed or that contain foreign lines.
        for file in files where file > first {
            try? reader.forEachLine(of: file) { line in
                guard line.contains(job), let node = try? parser.parse(Array(line.utf8)).root else { return }
                note(node, of: job)
            }
        }
    }

    private mutating func note(_ line: Node, of job: String) {
        guard line["kind"]?.string == "notification", line["job"]?.string == job,
            let outcome = line["outcome"]?.string, outcome != Outcome.Kind.accepted.rawValue
        else { return }
        counts[outcome, default: [:]][line["reason"]?.string ?? "no reason", default: 0] += 1
    }

    /// One line per outcome, the most frequent reasons first: `rejected: 2 Unregistered, 1 BadDeviceToken`.
    package var lines: [String] {
        counts.sorted { $0.key < $1.key }.map { outcome, reasons in
            let words = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
            return "\(outcome): \(words.joined(separator: ", "))".withoutControls
        }
    }

    /// Writes the member `reasons` if there are any: for each outcome an object with the count of each reason.
    package func write(to writer: inout JSONWriter) {
        guard !counts.isEmpty else { return }
        writer.key("reasons")
        writer.beginObject()
        for (outcome, reasons) in counts.sorted(by: { $0.key < $1.key }) {
            writer.key(outcome)
            writer.beginObject()
            for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) { writer.member(reason, count) }
            writer.endObject()
        }
        writer.endObject()
    }
}
