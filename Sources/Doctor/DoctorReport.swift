import Document
import JobFormat

/// All findings of the doctor, the most important first.
package struct DoctorReport: Sendable {
    /// The version number at the beginning of the JSON form.
    package static let version = 1

    /// Faults first, then warnings, then passed checks; within each severity ordered by area, most likely cause first.
    package let findings: [DoctorFinding]

    /// Sorts findings. Those of the same severity and area keep their order.
    package init(_ findings: [DoctorFinding]) {
        self.findings = findings.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            return (one.severity, one.area, left.offset) < (other.severity, other.area, right.offset)
        }.map(\.element)
    }

    /// The worst severity among the findings.
    package var severity: DoctorFinding.Severity { findings.first?.severity ?? .ok }

    /// The report as text: a line for each finding, a line for each hint, and a last line with the number of findings
    /// of each severity.
    package var lines: [String] {
        findings.flatMap(Self.lines) + [summary]
    }

    private var summary: String {
        func count(_ severity: DoctorFinding.Severity) -> Int { findings.count { $0.severity == severity } }
        func text(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        return "\(text(count(.fault), "fault")), \(text(count(.warn), "warning")), \(count(.ok)) ok"
    }

    private static func lines(of finding: DoctorFinding) -> [String] {
        let app = finding.app.map { " \($0)" } ?? ""
        let line = "\(finding.severity.rawValue) \(finding.area.rawValue)\(app): \(finding.message)"
        return [line] + (finding.hint.map { ["hint: \($0)"] } ?? [])
    }

    /// The report as JSON: one object and a line feed.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("v")
        writer.integer(Self.version)
        writer.member("severity", severity.rawValue)
        writer.key("findings")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.member("severity", finding.severity.rawValue)
            writer.member("area", finding.area.rawValue)
            writer.member("app", finding.app)
            writer.member("message", finding.message)
            writer.member("hint", finding.hint)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
