import APNSModel
package import Document
package import JobFormat
import PushModel

extension SendCommand {
    /// Judges the job of the command as the daemon will when it reads it.
    ///
    /// - Parameters:
    ///   - job: What `appendJob` wrote.
    ///   - parser: A parser of JSON with the daemon's limits.
    ///   - context: The context of the app's jobs.
    /// - Returns: Why the daemon would not send to all devices; `nil` if it would.
    package func fault(
        of job: [UInt8], parser: inout some DocumentParser, in context: JobContext
    ) -> CommandFault? {
        var sentByteCount = alertByteCount
        if isObject {
            guard let tape = try? parser.parse(payload), tape.root.kind == .mapping,
                let sent = try? JSONText.bytes(of: tape.root)
            else { return .badJSON(payload) }
            sentByteCount = sent.count
        }
        var reader = DocumentJobReader(parsing: job, with: &parser, context: context)
        let summary = reader.validate()
        guard summary.failure != nil || summary.rejectedCount > 0 else { return nil }
        let limit = context.carrier.payloadLimit(for: .alert)
        guard sentByteCount <= limit else { return .payloadTooLong(byteCount: sentByteCount, limit: limit) }
        let diagnostic = summary.fault ?? summary.report.diagnostics.first { $0.severity == .error }
        guard let diagnostic else { return .other("the daemon refuses the job") }
        return .other(diagnostic.sentence + (diagnostic.hint.map { "; \($0)" } ?? ""))
    }

    /// How many bytes the payload has as the text of an alert.
    private var alertByteCount: Int {
        var writer = JSONWriter()
        writer.string(utf8: payload[...])
        return #"{"aps":{"alert":}}"#.utf8.count + writer.bytes.count
    }
}
