package import Document

/// Reads YAML with libyaml: one document of plain data, without aliases, anchors, merge keys or tags of its own.
///
/// Scalars without quotes stay plain text on the tape; whoever reads a field settles its type.
package struct Parser: DocumentParser {
    private let limits: DocumentLimits
    private let budget: ReadingBudget

    /// Makes a parser that refuses what goes beyond the limits, and gives up when the budget is spent.
    package init(limits: DocumentLimits = DocumentLimits(), budget: ReadingBudget = .unlimited) {
        self.limits = limits
        self.budget = budget
    }

    /// Reads the document in a range of an array; see `DocumentParser`. Allocates for each document.
    /// - Throws: The first fault, with its place; the tape is then empty. Report it against the file.
    package mutating func parse(
        _ source: [UInt8], range: Range<Int>, into tape: inout Tape
    ) throws(Diagnostic) {
        do throws(Diagnostic) {
            let body = try DocumentText.accept(range, of: source, firstLine: tape.firstLine, limits: limits)
            tape.begin(.yaml, source: source, range: body)
            var composer = Composer(tape: tape, body: body, limits: limits)
            tape = Tape()
            defer { tape = composer.tape }
            try Directives.refuseExcess(in: composer.tape, body)
            try EventLoop(source, body, within: budget).run(into: &composer)
            try composer.tape.refuseDuplicateKeys(within: budget)
        } catch {
            tape.removeAll()
            throw error
        }
    }
}
