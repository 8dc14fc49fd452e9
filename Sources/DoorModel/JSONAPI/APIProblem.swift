package import Document

/// An error as JSON (RFC 9457), with the diagnostics of `pushspool check` if a job is at fault.
package struct APIProblem: Error, Hashable, Sendable {
    /// The media type of its JSON.
    package static let contentType = "application/problem+json"

    /// The HTTP status.
    package let status: Int
    /// What is wrong.
    package let title: String
    /// What to do about it.
    package var remedy: String?
    /// The findings in a job.
    package var diagnostics: [Diagnostic] = []
    /// After how many seconds to try again.
    package var retryAfter: Int?
    /// The methods that the path has.
    package var allowed: String?

    /// Creates a problem.
    package init(_ status: Int, _ title: String, remedy: String? = nil) {
        (self.status, self.title, self.remedy) = (status, title, remedy)
    }

    /// Creates the problem of a producer whose rate is used up for some seconds.
    package static func beyondRate(for seconds: Int) -> APIProblem {
        var problem = APIProblem(429, "the producer's rate is used up")
        problem.retryAfter = seconds
        return problem
    }

    /// The reason in metrics.
    package var reason: String { "status \(status)" }

    /// The object.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", status)
        writer.member("title", title)
        if let remedy { writer.member("detail", remedy) }
        if !diagnostics.isEmpty {
            writer.key("diagnostics")
            writer.diagnostics(diagnostics)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension JSONWriter {
    /// Writes an array of diagnostics.
    package mutating func diagnostics(_ list: [Diagnostic]) {
        beginArray()
        for diagnostic in list {
            beginObject()
            member("severity", diagnostic.severity.rawValue)
            if let place = diagnostic.place {
                member("line", place.line)
                member("column", place.column)
            }
            if let path = diagnostic.path { member("path", path) }
            member("message", diagnostic.message)
            if let hint = diagnostic.hint { member("hint", hint) }
            endObject()
        }
        endArray()
    }
}
