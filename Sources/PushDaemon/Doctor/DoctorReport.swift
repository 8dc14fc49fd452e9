import Document
import SpoolModel

/// All that the doctor found, what matters most first.
package struct DoctorReport: Sendable {
    /// The version that the JSON form begins with.
    package static let version = 1

    /// Faults, then warnings, then what is well; each in the order in which it is likely to be the cause of trouble.
    package let findings: [DoctorFinding]

    /// Puts findings in order. Those of the same severity and area stay in the order in which they come.
    package init(_ findings: [DoctorFinding]) {
        self.findings = findings.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            return (one.severity, one.area, left.offset) < (other.severity, other.area, right.offset)
        }.map(\.element)
    }

    /// How the worst of it is.
    package var severity: DoctorFinding.Severity { findings.first?.severity ?? .ok }

    /// For people: a line for each finding, one for each remedy, and at last how many there are of each severity.
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

    /// For programs: one JSON object and a line feed.
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
