package import Document
import PushModel

/// Reads a job that is one JSON or YAML document: parses it once, and walks it as often as needed.
///
/// Walk it to the end and read `summary`. If that has no `failure`, call `rewind()` and send the chunks that `next()` returns.
package struct DocumentJobReader: Sendable {
    private let tape: Tape
    private let form: JobOutline.Form?
    private let endsInNewline: Bool
    /// The compiler before the first recipient.
    private let start: RecipientCompiler
    private var compiler: RecipientCompiler
    /// The events of the next recipient and of its payload on the tape.
    private var cursor = 0
    private var payloadCursor = 0
    /// The list of addresses that is read, if there may be several.
    private var listNumber = 0
    private var index = 0
    private var isOver = false
    /// The chunk of a document that `validate` found to have no other, until it is handed out. Nothing else of the reader is
    /// needed then.
    package private(set) var onlyChunk: JobChunk?

    /// Parses the document; `summary` reports any fault. Costs O(*n*) in bytes.
    package init(parsing source: [UInt8], with parser: inout some DocumentParser, context: JobContext) {
        var compiler = RecipientCompiler(context)
        var form: JobOutline.Form?
        self.endsInNewline = source.last == UInt8(ascii: "\n")
        do throws(Diagnostic) {
            guard source.contains(where: { $0 > 0x20 }) else {
                throw Diagnostic("the file is empty", hint: "write the whole file, then rename it into place")
            }
            tape = try parser.parse(source)
            let outline = JobOutline(document: tape.root, context)
            compiler.adopt(outline)
            form = outline.form
        } catch {
            tape = Tape()
            compiler.fail(source.contains { $0 > 0x20 } ? .invalid : .incomplete, error)
        }
        self.form = form
        self.start = compiler
        self.compiler = compiler
        seekStart()
    }

    /// Returns the next recipients, at most 1024; `nil` at the end.
    package mutating func next() -> JobChunk? {
        if let chunk = onlyChunk.take() { return chunk }
        while !isOver, !compiler.chunk.isFull { step() }
        return compiler.chunk.take()
    }

    /// Returns to the first recipient, for another walk.
    package mutating func rewind() {
        (compiler, onlyChunk) = (start, nil)
        seekStart()
    }

    private mutating func seekStart() {
        (index, payloadCursor, listNumber, isOver) = (0, 0, 0, false)
        switch form {
        case .none:
            isOver = true
            if tape.events.isEmpty == false { compiler.finish() }
        case .single(let place, _), .broadcast(let place): cursor = place
        case .lists(let lists): cursor = (lists.first?.place ?? 0) + 1
        case .recipients(let list): cursor = list + 1
        case .paired(let tokens, let payloads): (cursor, payloadCursor) = (tokens + 1, payloads + 1)
        }
    }

    /// Walks to the end without sending, and returns the summary. `next()` then returns the chunks from the first one on.
    ///
    /// - Parameter budget: Asked after each chunk. When it is spent, the walk ends and the job fails.
    /// - Returns: The summary of the job.
    package mutating func validate(within budget: ReadingBudget = .unlimited) -> JobSummary {
        var (only, count) = (JobChunk?.none, 0)
        do throws(Diagnostic) {
            while let chunk = next() {
                (only, count) = (count == 0 ? chunk : nil, count + 1)
                try budget.spend()
            }
        } catch {
            compiler.fail(.invalid, error)
        }
        let summary = summary
        if isOver, only != nil { onlyChunk = only } else { rewind() }
        return summary
    }

    /// The findings so far; complete once `next()` has returned `nil`.
    package var summary: JobSummary {
        JobSummary(
            header: compiler.header, recipientCount: compiler.chunk.count, rejectedCount: compiler.rejectedCount,
            report: compiler.report, failure: compiler.failure, fault: compiler.fault,
            isSealed: isSealed, endsInNewline: endsInNewline)
    }

    /// The reason of the fault that makes the job fail, if a recipient could have it.
    var faultReason: FaultReason? { compiler.faultReason }

    /// In YAML a matching `count` is not enough: without a final newline the last token may be cut off.
    private var isSealed: Bool { tape.isEndMarked || compiler.header.count != nil && endsInNewline }

    /// Takes one recipient, or ends the walk.
    private mutating func step() {
        switch form {
        case .none: return
        case .single(let place, let key):
            if !isTooLong(place, .root) {
                let kind = key == .fid ? Address.Kind.installation : compiler.tokenKind
                compiler.add(AddressPlace(kind, .root, key: key.rawValue), at: place, on: tape)
            }
            return end()
        case .broadcast(let place):
            compiler.addBroadcast(at: Node(tape: tape, index: place))
            return end()
        case .lists(let lists):
            let list = lists[listNumber]
            guard cursor < tape.events[list.place].next else { return beginList(after: lists) }
            let base = PathBase.element(of: list.key.rawValue, at: index)
            let kind = list.key == .fids ? Address.Kind.installation : compiler.tokenKind
            if !isTooLong(cursor, base) { compiler.add(AddressPlace(kind, base), at: cursor, on: tape) }
        case .recipients(let list):
            guard cursor < tape.events[list].next else { return end() }
            addRecipient()
        case .paired(let list, _):
            guard cursor < tape.events[list].next else { return end() }
            addPair()
        }
        cursor = tape.events[cursor].next
        index += 1
    }

    /// Begins the next list of addresses, or ends the walk.
    private mutating func beginList(after lists: [JobOutline.AddressList]) {
        guard listNumber + 1 < lists.count else { return end() }
        listNumber += 1
        (cursor, index) = (lists[listNumber].place + 1, 0)
    }

    /// Rejects a recipient, or a part of one, that is too long to be read in one step.
    private mutating func isTooLong(_ event: Int, _ base: PathBase) -> Bool {
        let byteCount = Int(tape.events[event].rawLength)
        compiler.chunk.note(byteCount: byteCount)
        guard byteCount > JobChunk.byteLimit else { return false }
        compiler.rejectTooLong(Node(tape: tape, index: event), base)
        return true
    }

    private mutating func addPair() {
        let (token, payload) = (cursor, payloadCursor)
        payloadCursor = tape.events[payload].next
        guard !isTooLong(token, .element(of: JobKey.tokens.rawValue, at: index)),
            !isTooLong(payload, .element(of: JobKey.payloads.rawValue, at: index))
        else { return }
        compiler.add(token: Node(tape: tape, index: token), payload: Node(tape: tape, index: payload), index: index)
    }

    private mutating func addRecipient() {
        let base = PathBase.element(of: JobKey.recipients.rawValue, at: index)
        guard !isTooLong(cursor, base) else { return }
        if let token = tape.lonelyToken(at: cursor) {
            let place = AddressPlace(compiler.tokenKind, base, key: JobKey.token.rawValue)
            compiler.add(place, at: token, on: tape)
        } else {
            compiler.add(recipient: Node(tape: tape, index: cursor), base: base)
        }
    }

    private mutating func end() {
        isOver = true
        compiler.finish()
    }
}

extension Tape {
    /// Returns the event of the token if the event at `index` is a mapping with only a `token`, which is a string.
    func lonelyToken(at index: Int) -> Int? {
        let event = events[index]
        guard event.kind == .mapping, event.textLength == 1, index + 2 < events.count else { return nil }
        let key = events[index + 1]
        let name = key.isInArena ? arena[key.textRange] : source[key.textRange]
        let value = events[index + 2]
        guard value.kind == .string || value.kind == .plain, name.elementsEqual("token".utf8) else { return nil }
        return index + 2
    }
}
