package import Document
import JobFormat
package import JobOperations
import PushModel
import ServiceProcess
import SpoolModel

/// The findings for one file.
package struct CheckReport {
    /// The path of the file, or the name of standard input.
    package let file: String
    /// A one-line summary; `nil` if the file could not be used.
    package var summary: String?
    /// The app that the file configures, if it is an app's.
    package var app: String?
    /// The findings, in the order of the file.
    package var diagnostics: [Diagnostic]
    private var verdict: JobCheck.Verdict?

    /// Creates the report of a file.
    package init(_ file: String, _ diagnostics: [Diagnostic] = []) {
        (self.file, self.diagnostics) = (file, diagnostics)
    }

    /// Records the verdict on a job file.
    package mutating func record(_ verdict: JobCheck.Verdict) {
        (self.verdict, diagnostics) = (verdict, verdict.diagnostics)
        let rejected = verdict.rejectedCount == 0 ? "" : ", \(verdict.rejectedCount) rejected"
        let time = verdict.notBefore.map { ", not before \($0.rfc3339)" } ?? ""
        let fate = verdict.isSendable ? time : ": nothing would be sent"
        summary = "\(verdict.recipientCount.of("notification"))\(rejected)\(fate)"
    }

    /// Whether a job would be sent completely, or an app is valid.
    package var isGood: Bool {
        if let verdict { return verdict.isSendable && verdict.rejectedCount == 0 }
        return summary != nil
    }

    /// The report as one JSON object and a line feed.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("file", file)
        writer.member("app", app)
        writer.key("ok")
        writer.boolean(isGood || summary == nil && diagnostics.allSatisfy { $0.severity == .warning })
        if let verdict {
            writer.member("notifications", verdict.recipientCount)
            writer.member("rejected", verdict.rejectedCount)
            writer.member("not_before", verdict.notBefore?.rfc3339)
        }
        writer.member("text", summary)
        writer.key("diagnostics")
        writer.beginArray()
        for diagnostic in diagnostics { diagnostic.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
