package import Document

/// Parses JSON (RFC 8259) with simdjson. Checks every value and copies only strings with escapes.
///
/// Accepts numbers of any size. Use one parser for many documents: it keeps its buffers, except those of a document
/// over 1 MiB. Recursive up to the depth limit.
package struct Parser: DocumentParser {
    private var limits: DocumentLimits
    private var budget: ReadingBudget
    private let native = NativeParser()

    /// Creates a parser that rejects documents beyond the limits and stops when the budget is spent.
    ///
    /// simdjson parses a document in one step, which takes less than a second for the largest. The budget is checked
    /// after it.
    package init(limits: DocumentLimits = DocumentLimits(), budget: ReadingBudget = .unlimited) {
        self.limits = limits
        self.budget = budget
    }

    /// Returns a parser with other limits that uses the same buffers. Use only one of both at a time.
    package func limited(to limits: DocumentLimits, within budget: ReadingBudget) -> Parser {
        var other = self
        (other.limits, other.budget) = (limits, budget)
        return other
    }

    /// Parses the document in a range of an array; see `DocumentParser`.
    ///
    /// - Throws: The first error, with its place; the tape is then empty. Report it against the file.
    package mutating func parse(
        _ source: [UInt8], range: Range<Int>, into tape: inout Tape
    ) throws(Diagnostic) {
        do throws(Diagnostic) {
            let body = try DocumentText.accept(range, of: source, firstLine: tape.firstLine, limits: limits)
            tape.begin(.json, source: source, range: body)
            let fault = native.parse(source, range: body, limits: limits, into: &tape)
            if let fault { throw diagnostic(for: fault, in: body, of: tape) }
            try tape.refuseDuplicateKeys(within: budget)
            tape.isEndMarked = tape.root.kind == .string || tape.root.isContainer
        } catch {
            tape.removeAll()
            throw error
        }
    }

    private func diagnostic(for fault: NativeParser.Fault, in body: Range<Int>, of tape: Tape) -> Diagnostic {
        switch fault {
        case .outOfMemory:
            return Diagnostic("not enough memory to read the document", hint: "split it")
        case .tooManyValues(let offset):
            return Diagnostic(
                "the document has too many values",
                hint: "write one recipient per line in a .jsonl file, which has no such limit",
                at: tape.place(at: offset))
        case .malformed(let offset):
            var finder = FaultFinder(tape.source, in: body, depth: limits.depth)
            let found = finder.firstFault() ?? FaultFinder.Fault("this is not valid JSON", at: offset)
            return Diagnostic(found.message, hint: found.hint, at: tape.place(at: found.offset))
        }
    }
}
