import Document
import DoorModel
import JobFormat
import MicroHTTPD
import SpoolClient
import SpoolModel

extension JobIntake.Receipt {
    /// The answer to a job: `{"job":…,"recipients":…,"rejected":…}`, and findings if there are any.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("job", name)
        writer.member("recipients", recipientCount)
        writer.member("rejected", rejectedCount)
        if !diagnostics.isEmpty {
            writer.key("diagnostics")
            writer.diagnostics(diagnostics)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

/// What a client is told of a job that was dropped.
struct JobAnswer: Sendable {
    let app: String
    let receipt: JobIntake.Receipt

    /// The response. The path of the job is left out if it would have to be encoded.
    var response: HTTPResponse {
        var response = HTTPResponse(status: 202, contentType: "application/json", body: receipt.json)
        let path = "/v1/apps/\(app)/jobs/\(receipt.name)"
        if path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) { response.fields.append(("Location", path)) }
        return response
    }

    /// The answer to a repetition, which may be kept for long.
    var withoutFindings: JobAnswer { JobAnswer(app: app, receipt: receipt.withoutFindings) }
}

extension SpoolReader.Finding {
    /// The answer about a job: its name and state, why it waits or how far it is, and once it has ended the day and the content
    /// of its result file.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("job", job)
        switch place {
        case nil:
            writer.member("state", "sending")
            if let progress {
                writer.member("notifications", progress.count)
                writer.member("settled", progress.settledCount)
            }
            writer.member("reason", progress?.reason ?? reason)
        case .waiting?:
            writer.member("state", "waiting")
            writer.member("reason", reason)
        case .held?: writer.member("state", "held")
        case .done(let day, let result)?: Self.end("done", day, result, &writer)
        case .failed(let day, let result)?: Self.end("failed", day, result, &writer)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private static func end(_ state: String, _ day: String, _ result: [UInt8]?, _ writer: inout JSONWriter) {
        writer.member("state", state)
        writer.member("day", day)
        guard let result else { return }
        writer.key("result")
        writer.raw(result.filter { $0 != 0x0A && $0 != 0x0D })
    }
}

extension HTTPResponse {
    /// The beginning of a stream of feedback: of lines up to a cursor, or without one of events.
    init(feedbackUpTo cursor: FeedbackCursor?) {
        self.init(status: 200, contentType: cursor == nil ? "text/event-stream" : "application/jsonl")
        if let cursor { fields.append(("Pushspool-Cursor", cursor.text)) } else { body = Array(": pushspool\n\n".utf8) }
        fields.append(("Cache-Control", "no-store"))
        isStream = true
    }
}
