package import APNSModel
package import Document

/// What came of a command about one job: one JSON object a line.
package struct ControlAnswer: Hashable, Sendable {
    /// What came of it, in a word for programs.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// It was done, and survives a crash.
        case done
        /// It was begun and goes on by itself.
        case begun
        /// It was only asked for what would be done.
        case planned
        /// There is no such job.
        case notFound = "not_found"
        /// It cannot be done.
        case refused
    }

    /// What came of it.
    package var kind: Kind
    /// The same in words.
    package var text: String
    /// What to do about it.
    package var hint: String?
    /// The job's app.
    package var app: String?
    /// The name of the job's file, escaped.
    package var job: String?
    /// Our id of the job, where it has one.
    package var id: JobID?

    /// Creates an answer that names no job.
    package init(_ kind: Kind, _ text: String, hint: String? = nil) {
        (self.kind, self.text, self.hint) = (kind, text, hint)
    }

    /// An answer that says why not.
    package init(_ fault: ControlFault) {
        self.init(.refused, fault.message, hint: fault.hint)
    }

    /// Whether the operator got what he asked for.
    package var isGood: Bool {
        switch kind {
        case .done, .begun, .planned: true
        case .notFound, .refused: false
        }
    }

    /// The same answer about this job.
    package func about(_ app: String, _ name: FileName, _ id: JobID? = nil) -> ControlAnswer {
        var copy = self
        (copy.app, copy.job, copy.id) = (app, name.escaped, id)
        return copy
    }

    /// Reads an answer, or finds that it is none of this version.
    package init?(_ root: Node) {
        guard root["v"]?.integer == ControlRequest.version,
            let kind = root["result"]?.string.flatMap(Kind.init(rawValue:)), let text = root["text"]?.string
        else { return nil }
        self.init(kind, text, hint: root["hint"]?.string)
        (app, job) = (root["app"]?.string, root["job"]?.string)
        guard let text = root["id"]?.string else { return }
        guard let id = JobID(text) else { return nil }
        self.id = id
    }

    /// The answer as a line, line feed included.
    package var line: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("v", ControlRequest.version)
        writer.member("app", app)
        writer.member("job", job)
        writer.member("id", id?.description)
        writer.member("result", kind.rawValue)
        writer.member("text", text)
        writer.member("hint", hint)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
