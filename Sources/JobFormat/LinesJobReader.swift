package import Document

/// Reads a `.jsonl` job in constant memory: takes bytes as they arrive and returns chunks of recipients.
///
/// Append bytes, take chunks until `next()` returns `nil`, and repeat; call `finish()` after the last byte, then take
/// the rest. A first reader over the whole file finds out whether anything may be sent (`summary`); a second one sends.
/// Chunks depend only on the bytes, not on the pieces they came in.
package struct LinesJobReader<Parser: DocumentParser> {
    private var parser: Parser
    private var tape = Tape()
    private var compiler: RecipientCompiler
    private var lines: LineBuffer
    /// The form of the last line that was parsed and has only an address.
    private var usualLine: UsualLine?
    private var lineNumber = 0
    private var isOver = false
    private var isUnterminated = false
    /// The first line of the current run of blank lines, which are allowed only at the end.
    private var blankLine: Int?

    /// Creates a reader; `parser` should enforce `limits.perLine`.
    package init(parser: Parser, context: JobContext) {
        self.parser = parser
        self.compiler = RecipientCompiler(context)
        self.lines = LineBuffer(limit: context.limits.lineByteCount)
    }

    /// Appends bytes of the file. Take all chunks that `next()` can return first, so that memory stays bounded.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard !isOver else { return }
        tape.removeAll()
        lines.append(bytes)
    }

    /// Marks the end of the file.
    package mutating func finish() {
        lines.isFinished = true
    }

    /// Returns the next recipients, at most 1024; `nil` if it needs more bytes or, after `finish()`, at the end.
    package mutating func next() -> JobChunk? {
        while !isOver {
            readUsualLines()
            if compiler.chunk.isFull { break }
            switch lines.next() {
            case .line(let range, let isTerminated): read(range, isTerminated: isTerminated)
            case .tooLong:
                lineNumber += 1
                failLine(Self.tooLong(compiler.context.limits.lineByteCount))
            case .needsMore: return nil
            case .end: end()
            }
        }
        return compiler.chunk.take()
    }

    /// The findings so far; complete once all chunks were taken after `finish()`.
    package var summary: JobSummary {
        JobSummary(
            header: compiler.header, recipientCount: compiler.chunk.count, rejectedCount: compiler.rejectedCount,
            report: compiler.report, failure: compiler.failure, fault: compiler.fault,
            isSealed: compiler.header.count != nil, endsInNewline: lineNumber > 0 && !isUnterminated)
    }

    /// Stops reading because the budget is spent, and fails the job.
    package mutating func giveUp(_ diagnostic: Diagnostic) {
        compiler.fail(.invalid, diagnostic)
        isOver = true
    }

    private mutating func readUsualLines() {
        guard blankLine == nil, var form = usualLine else { return }
        lineNumber += compiler.add(linesOf: &form, from: &lines)
        usualLine = form
    }

    private mutating func read(_ range: Range<Int>, isTerminated: Bool) {
        lineNumber += 1
        compiler.chunk.note(byteCount: range.count)
        isUnterminated = !isTerminated
        tape.firstLine = lineNumber
        guard !lines.isBlank(range) else {
            blankLine = blankLine ?? lineNumber
            return
        }
        if let blankLine {
            let hint = "write one recipient per line, and blank lines only at the end"
            return failLine(Diagnostic("the line is blank", hint: hint, at: Place(line: blankLine, column: 1)))
        }
        do throws(Diagnostic) {
            try parser.parse(lines.bytes, range: range, into: &tape)
        } catch {
            return failLine(error)
        }
        if lineNumber == 1, takeOutline() { return }
        switch tape.events.first?.kind {
        case .string, .plain: add(AddressPlace(compiler.tokenKind, .root), at: 0, in: range)
        case .mapping, .sequence, .key, .number, .true, .false, .null, .none: addMapping(range)
        }
    }

    /// Reads the first line if it describes the job.
    ///
    /// - Returns: Whether it does.
    private mutating func takeOutline() -> Bool {
        guard tape.events.first?.kind == .mapping, tape.lonelyToken(at: 0) == nil,
            let outline = JobOutline(firstLine: tape.root, compiler.context)
        else { return false }
        compiler.adopt(outline)
        return true
    }

    private mutating func addMapping(_ line: Range<Int>) {
        if tape.events.isEmpty == false, let token = tape.lonelyToken(at: 0) {
            let place = AddressPlace(compiler.tokenKind, .root, key: JobKey.token.rawValue)
            add(place, at: token, in: line)
        } else {
            compiler.add(recipient: tape.root, base: .root)
        }
    }

    /// Adds a recipient that is only an address, and takes the form of its line.
    private mutating func add(_ place: AddressPlace, at index: Int, in line: Range<Int>) {
        compiler.add(place, at: index, on: tape)
        let event = tape.events[index]
        guard !event.isInArena, compiler.isUsual(byteCount: event.textRange.count) else { return }
        usualLine = UsualLine(line, address: event.textRange, of: lines.bytes)
    }

    /// Stops reading at a line that is not JSON, because the lines after it cannot be trusted.
    private mutating func failLine(_ diagnostic: Diagnostic) {
        var diagnostic = diagnostic
        diagnostic.place = diagnostic.place ?? Place(line: max(lineNumber, 1), column: 1)
        let isCut = isUnterminated && !compiler.context.isPublishedByRename
        compiler.fail(isCut ? .incomplete : .invalid, diagnostic)
        isOver = true
    }

    private mutating func end() {
        isOver = true
        let count = compiler.chunk.count
        if isUnterminated, !compiler.context.isPublishedByRename, compiler.header.count != count {
            let hint = "end it with a line feed, add `count`, or rename the file into place"
            let place = Place(line: lineNumber, column: 1)
            compiler.fail(.incomplete, Diagnostic("the last line has no line feed", hint: hint, at: place))
        } else if count == 0 {
            let code: ResultCode = lineNumber == 0 ? .incomplete : .invalid
            compiler.fail(code, Diagnostic("no recipients", hint: "write one recipient per line"))
        }
        compiler.finish()
    }

    private static func tooLong(_ limit: Int) -> Diagnostic {
        Diagnostic(
            "the line is longer than \(limit) bytes", hint: "write one recipient per line, or raise `limits.line`")
    }
}

extension LinesJobReader: Sendable where Parser: Sendable {}
