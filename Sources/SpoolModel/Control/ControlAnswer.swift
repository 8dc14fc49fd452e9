package import Document
package import JobFormat
package import PushModel

/// The answer to a command about one job: one JSON object per line.
package struct ControlAnswer: Hashable, Sendable {
    /// The result of a command, as one word for programs.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The command is done, and its effect survives a crash.
        case done
        /// The command has started and continues on its own.
        case begun
        /// A dry run: the answer says only what the command would do.
        case planned
        /// There is no such job.
        case notFound = "not_found"
        /// The command cannot be carried out.
        case refused
        /// The node that has the job, or may have it, does not answer: the command may work later.
        case unanswered
    }

    /// The result of the command.
    package var kind: Kind
    /// The result in words.
    package var text: String
    /// The remedy, if there is one.
    package var hint: String?
    /// The job's app.
    package var app: String?
    /// The name of the job's file, escaped.
    package var job: String?
    /// The daemon's id of the job, if it has one.
    package var id: JobID?
    /// Whether a refused command had nothing to do, which is no fault if it was given for all jobs.
    package var hasNothingToDo = false

    /// Creates an answer that does not name a job.
    package init(_ kind: Kind, _ text: String, hint: String? = nil) {
        (self.kind, self.text, self.hint) = (kind, text, hint)
    }

    /// Creates an answer that refuses the command with this fault.
    package init(_ fault: ControlFault) {
        self.init(.refused, fault.message, hint: fault.hint)
        hasNothingToDo = fault.hasNothingToDo
    }

    /// Whether the command succeeded.
    package var isGood: Bool {
        switch kind {
        case .done, .begun, .planned: true
        case .notFound, .refused, .unanswered: false
        }
    }

    /// Returns the same answer, naming this job.
    package func about(_ app: String, _ name: FileName, _ id: JobID? = nil) -> ControlAnswer {
        var copy = self
        (copy.app, copy.job, copy.id) = (app, name.escaped, id)
        return copy
    }

    /// Reads an answer.
    ///
    /// - Returns: `nil` if the line is not an answer of this version.
    package init?(_ root: Node) {
        guard root["v"]?.integer == ControlRequest.version,
            let kind = root["result"]?.string.flatMap(Kind.init(rawValue:)), let text = root["text"]?.string
        else { return nil }
        self.init(kind, text, hint: root["hint"]?.string)
        (app, job) = (root["app"]?.string, root["job"]?.string)
        hasNothingToDo = root["nothing_to_do"]?.boolean ?? false
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
        if hasNothingToDo {
            writer.key("nothing_to_do")
            writer.boolean(true)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
