import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel

/// Formats a report as one JSON object per line, each with `kind` as its first member.
package enum ReportLines {
    /// Returns the lines: one for all apps together, then one for each app, for each reason of notifications and for
    /// each code of failed jobs, the most frequent first.
    package static func json(_ report: SpoolReport) -> [UInt8] {
        var bytes = line("total") { writer in
            writer.member("since", report.span.lowerBound.rfc3339)
            writer.member("until", report.span.upperBound.rfc3339)
            report.total.write(to: &writer)
        }
        for (name, figures) in report.apps.sorted(by: { $0.key < $1.key }) {
            bytes += line("app") { writer in
                writer.member("app", name)
                figures.write(to: &writer)
            }
        }
        for (reason, count) in report.frequentReasons {
            bytes += line("reason") { writer in
                writer.member("reason", reason.name)
                writer.member("outcome", reason.outcome)
                writer.member("verdict", reason.verdict)
                writer.member("notifications", count)
            }
        }
        for (code, count) in report.frequentCodes {
            bytes += line("code") { writer in
                writer.member("code", code)
                writer.member("jobs", count)
            }
        }
        return bytes
    }

    private static func line(_ kind: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("kind", kind)
        write(&writer)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension SpoolReport {
    /// The reasons why notifications were not accepted, the most frequent first.
    var frequentReasons: [(key: Reason, value: Int)] {
        reasons.sorted { ($1.value, $0.key.name, $0.key.outcome) < ($0.value, $1.key.name, $1.key.outcome) }
    }

    /// The codes of failed jobs, the most frequent first.
    var frequentCodes: [(key: String, value: Int)] {
        codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }
}

extension ReportFigures {
    /// Writes the figures as members of the open object, with latencies in milliseconds.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("jobs", jobCount)
        writer.member("done", doneCount)
        writer.member("failed", failedCount)
        writer.member("uncounted", uncountedCount)
        tally.write(to: &writer)
        for (name, times) in [("claimed", \ReportFigures.waiting), ("sent", \ReportFigures.sending)] {
            for (share, word) in [(0.5, "p50"), (0.99, "p99")] {
                guard let time = quantile(share, of: times) else { continue }
                writer.member("\(name)_\(word)_ms", Int(time.wholeNanoseconds / 1_000_000))
            }
        }
    }
}
