package import Document
package import PushModel

/// Checks recipients one by one, as the daemon will when it reads them from a `.jsonl` file.
///
/// For programs that write jobs of recipients that others hand them, and must say at once what is wrong.
package struct RecipientCheck<Parser: DocumentParser> {
    /// What the daemon will make of a line.
    package enum Verdict: Hashable, Sendable {
        /// It will be sent. So will those that differ in nothing but the token, the id and what the pattern leaves open, which is
        /// there if it was asked for.
        case sendable(PayloadPattern?)
        /// It will be refused.
        case refused(Refusal)
        /// The payload is not one JSON object.
        case notAnObject
    }

    private var parser: Parser
    private var tape = Tape()

    /// Creates a check. `parser` should enforce the daemon's limits for lines.
    package init(parser: Parser) {
        self.parser = parser
    }

    /// Judges the line of a recipient whose payload was taken over unchanged from somebody else.
    ///
    /// Whatever the payload has in it, it must end where it ends: otherwise it could add keys to the recipient.
    ///
    /// - Parameters:
    ///   - line: The line, as `{"token":…,"payload":…}`, without its line feed.
    ///   - payload: Where the payload is in the line.
    ///   - context: The context of the job.
    ///   - isPattern: Whether others are to be compared with the payload.
    /// - Returns: The daemon's verdict; one of the refusals if there are several.
    package mutating func verdict(
        on line: [UInt8], payload: Range<Int>, in context: JobContext, isPattern: Bool = false
    ) -> Verdict {
        guard let index = parse(line, payload) else { return .notAnObject }
        defer { tape.removeAll() }
        var compiler = RecipientCompiler(context)
        compiler.add(recipient: tape.root, base: .root)
        if let recipient = compiler.chunk.take()?.rejected.first { return .refused(recipient.refusal) }
        return .sendable(isPattern ? PayloadPattern(of: Node(tape: tape, index: index)) : nil)
    }

    /// Judges a broadcast, which is a job of its own, whose payload was taken over unchanged. Otherwise like a recipient.
    package mutating func verdict(onBroadcast job: [UInt8], payload: Range<Int>, in context: JobContext) -> Verdict {
        guard parse(job, payload) != nil else { return .notAnObject }
        tape.removeAll()
        var reader = DocumentJobReader(parsing: job, with: &parser, context: context)
        while reader.next() != nil {}
        guard reader.summary.failure != nil else { return .sendable(nil) }
        return .refused((reader.faultReason ?? .badRequestPayload).refusal)
    }

    /// Parses a mapping, and returns the index of its payload if that is one object at the given place.
    private mutating func parse(_ bytes: [UInt8], _ payload: Range<Int>) -> Int? {
        do throws(Diagnostic) {
            try parser.parse(bytes, range: bytes.startIndex..<bytes.endIndex, into: &tape)
        } catch {
            // Everything but the payload is well formed, so the payload is at fault.
            return nil
        }
        guard let node = tape.root[JobKey.payload.rawValue], node.kind == .mapping, node.rawRange == payload else {
            return nil
        }
        return node.index
    }
}

extension RecipientCheck: Sendable where Parser: Sendable {}
