import APNSModel
import Document
import JSON
import SpoolClient
import SpoolModel

/// Why notifications of a job were not accepted, counted from feedback.
struct JobReasons {
    private var counts: [String: [String: Int]] = [:]

    /// Reads the feedback of an app that was published since a moment, as far as it may be read and nobody has taken it.
    init(of job: String, app: String, spool: String, since start: WallTime) {
        guard let reader = try? FeedbackReader(app: app, spool: spool), let files = try? reader.files() else { return }
        var parser = JSON.Parser()
        let first = start.compact
        // One that is there no more, or has another's lines, says nothing.
        for file in files where file > first {
            try? reader.forEachLine(of: file) { line in
                guard line.contains(job), let node = try? parser.parse(Array(line.utf8)).root else { return }
                note(node, of: job)
            }
        }
    }

    private mutating func note(_ line: Node, of job: String) {
        guard line["kind"]?.string == "notification", line["job"]?.string == job,
            let outcome = line["outcome"]?.string, outcome != "accepted"
        else { return }
        counts[outcome, default: [:]][line["reason"]?.string ?? "no reason", default: 0] += 1
    }

    /// A line for each outcome, the most frequent reasons first: `rejected: 2 Unregistered, 1 BadDeviceToken`.
    var lines: [String] {
        counts.sorted { $0.key < $1.key }.map { outcome, reasons in
            let words = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
            return "\(outcome): \(words.joined(separator: ", "))".withoutControls
        }
    }

    /// Writes the member `reasons`, if there is any: for each outcome an object of reasons and how many have it.
    func write(to writer: inout JSONWriter) {
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
