import Document

/// Converts libyaml's events into a tape and rejects YAML features that plain data does not need.
struct Composer {
    /// The style of a scalar.
    enum Style {
        case plain
        case quoted
        case block
    }

    /// A mapping or sequence that has not ended.
    private struct Container {
        let index: Int
        let isMapping: Bool
        var childCount = 0
        var expectsKey: Bool { isMapping && childCount % 2 == 0 }
    }

    private(set) var tape: Tape
    private let body: Range<Int>
    private let limits: DocumentLimits
    private var cursor: MarkCursor
    private var open: [Container] = []
    private var hasDocument = false
    private var current = 0..<0
    private var lastEnd = 0

    init(tape: Tape, body: Range<Int>, limits: DocumentLimits) {
        self.tape = tape
        self.body = body
        self.limits = limits
        cursor = MarkCursor(tape.source, range: body)
    }

    /// Records the range of the next event, in characters from the document's start.
    mutating func mark(from start: Int, to end: Int) {
        let lower = cursor.offset(of: start, in: tape.source)
        current = lower..<max(lower, cursor.offset(of: end, in: tape.source))
    }

    /// Begins the document.
    ///
    /// - Throws: A diagnostic if there is already a document.
    mutating func beginDocument() throws(Diagnostic) {
        guard !hasDocument else {
            throw secondDocument
        }
        hasDocument = true
    }

    /// Ends the document; `...` marks it as complete.
    ///
    /// - Throws: A diagnostic if directives follow, because they begin a second document.
    mutating func endDocument(isMarked: Bool) throws(Diagnostic) {
        tape.isEndMarked = isMarked
        guard !Directives.isNext(in: tape.source[current.upperBound..<body.upperBound]) else { throw secondDocument }
    }

    /// Checks that the file had a document.
    ///
    /// - Throws: A diagnostic if it had none.
    func finish() throws(Diagnostic) {
        guard hasDocument, !tape.events.isEmpty else {
            throw Diagnostic("the document is empty", hint: "write one YAML document", at: tape.place(at: tape.start))
        }
    }

    /// Begins a mapping or sequence.
    ///
    /// - Throws: A diagnostic if it is nested too deeply, is used as a key, or has an anchor or an unsupported tag.
    mutating func open(_ kind: Node.Kind, tag: String?, hasAnchor: Bool) throws(Diagnostic) {
        try refuse(anchor: hasAnchor)
        guard tag == nil || tag == "!" || tag == Tag.name(of: kind) else { throw unknown(tag ?? "") }
        if open.last?.expectsKey == true {
            throw fault("a key must be a single value", hint: "write `key: value`; put quotes around brackets in text")
        }
        guard open.count < limits.depth else {
            throw fault(
                "the nesting is deeper than \(limits.depth) levels", hint: "flatten the document, or raise the limit")
        }
        try countChild()
        let index = tape.openContainer(kind, at: current.lowerBound)
        open.append(Container(index: index, isMapping: kind == .mapping))
    }

    /// Ends the innermost mapping or sequence. In block style its range ends with its content.
    mutating func close() {
        guard let container = open.popLast() else { return }
        if !current.isEmpty { lastEnd = current.upperBound }
        let count = container.isMapping ? container.childCount / 2 : container.childCount
        tape.closeContainer(container.index, count: count, end: lastEnd)
    }

    /// Adds a key or a scalar.
    ///
    /// - Throws: A diagnostic if it has an anchor or a tag that does not fit, or is a merge key.
    mutating func scalar(
        _ text: UnsafeBufferPointer<UInt8>, style: Style, tag: String?, hasAnchor: Bool
    ) throws(Diagnostic) {
        try refuse(anchor: hasAnchor)
        var kind = style == .plain ? Node.Kind.plain : .string
        if let tag { kind = try unsafe self.kind(taggedAs: tag, Array(text)) }
        if open.last?.expectsKey == true {
            guard unsafe kind != .plain || !text.elementsEqual("<<".utf8) else {
                throw fault("merge keys are not supported", hint: "write the members explicitly")
            }
            kind = .key
        }
        try countChild()
        lastEnd = current.upperBound
        let isQuoted = style == .quoted && current.count >= 2
        let written = isQuoted ? current.lowerBound + 1..<current.upperBound - 1 : current
        if unsafe written.count == text.count && tape.source[written].elementsEqual(text) {
            tape.append(kind, raw: current, text: written)
        } else {
            unsafe tape.append(kind, raw: current, decoded: text)
        }
    }

    private var secondDocument: Diagnostic {
        fault("the file has more than one document", hint: "write one document per file")
    }

    /// Returns the diagnostic for an alias.
    func alias() -> Diagnostic {
        fault("aliases are not supported", hint: "repeat the value; put quotes around text that starts with `*`")
    }

    /// Returns a diagnostic at the current event.
    func fault(_ message: String, hint: String?) -> Diagnostic {
        Diagnostic(message, hint: hint, at: tape.place(at: current.lowerBound))
    }

    /// Returns the diagnostic for a byte-level error from libyaml. The offset counts from the document's start.
    func readerFault(_ problem: String, byteOffset: Int) -> Diagnostic {
        var offset = min(body.lowerBound + byteOffset, body.upperBound)
        if problem == "invalid trailing UTF-8 octet" {
            repeat { offset -= 1 } while offset > body.lowerBound && tape.source[offset] & 0xC0 == 0x80
        }
        let (message, hint) = SyntaxFault.reader(problem, byte: offset < body.upperBound ? tape.source[offset] : nil)
        return Diagnostic(message, hint: hint, at: tape.place(at: offset))
    }

    /// Returns the diagnostic for a syntax error from libyaml. The positions count characters.
    mutating func syntaxFault(_ problem: String, at index: Int, startedAt start: Int) -> Diagnostic {
        let offset = cursor.offset(of: index, in: tape.source)
        let byte = offset < body.upperBound ? tape.source[offset] : nil
        let fault = SyntaxFault(problem, byte: byte)
        let place = fault.isAtStart ? cursor.offset(of: start, in: tape.source) : offset
        return Diagnostic(fault.message, hint: fault.hint, at: tape.place(at: place))
    }

    private mutating func countChild() throws(Diagnostic) {
        guard tape.events.count < limits.eventCount else {
            throw fault(
                "the document has too many values",
                hint: "write one recipient per line in a .jsonl file, which has no such limit")
        }
        if !open.isEmpty { open[open.count - 1].childCount += 1 }
    }

    private func refuse(anchor: Bool) throws(Diagnostic) {
        guard anchor else { return }
        throw fault("anchors are not supported", hint: "remove it; put quotes around text that starts with `&`")
    }

    private func unknown(_ tag: String) -> Diagnostic {
        fault(
            "the tag \(Diagnostic.quoted(tag)) is not supported",
            hint: "remove it; put quotes around text that starts with `!`")
    }

    private func kind(taggedAs tag: String, _ text: [UInt8]) throws(Diagnostic) -> Node.Kind {
        guard let type = Tag(tag) else { throw unknown(tag) }
        guard type.fits(text[...]) else {
            throw fault(
                "\(Diagnostic.quoted(String(decoding: text, as: UTF8.self))) does not match its tag",
                hint: "remove the tag")
        }
        return type == .string ? .string : .plain
    }
}
