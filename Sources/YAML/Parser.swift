package import Document

/// Parses YAML with libyaml: one document of plain data, without aliases, anchors, merge keys or custom tags.
///
/// The language is YAML 1.2. What libyaml reads by the rules of YAML 1.1 is rejected: see `OldBreaks` and `Directives`.
///
/// Scalars without quotes remain plain text on the tape; the field that reads one determines its type.
package struct Parser: DocumentParser {
    private let limits: DocumentLimits
    private let budget: ReadingBudget

    /// Creates a parser that rejects documents beyond the limits and stops when the budget is spent.
    package init(limits: DocumentLimits = DocumentLimits(), budget: ReadingBudget = .unlimited) {
        self.limits = limits
        self.budget = budget
    }

    /// Parses the document in a range of an array; see `DocumentParser`. Allocates for each document.
    ///
    /// - Throws: The first error, with its place; the tape is then empty. Report it against the file.
    package mutating func parse(
        _ source: [UInt8], range: Range<Int>, into tape: inout Tape
    ) throws(Diagnostic) {
        do throws(Diagnostic) {
            let body = try DocumentText.accept(range, of: source, firstLine: tape.firstLine, limits: limits)
            tape.begin(.yaml, source: source, range: body)
            var composer = Composer(tape: tape, body: body, limits: limits)
            tape = Tape()
            defer { tape = composer.tape }
            try OldBreaks.refuse(in: composer.tape, body)
            try Directives.check(in: composer.tape, body)
            try EventLoop(source, body, within: budget).run(into: &composer)
            try composer.tape.refuseDuplicateKeys(within: budget)
        } catch {
            tape.removeAll()
            throw error
        }
    }
}
