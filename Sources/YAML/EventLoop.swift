import CYAML
import Document

/// Runs libyaml over a document and passes its events to a composer.
struct EventLoop {
    private let source: [UInt8]
    private let range: Range<Int>
    private let budget: ReadingBudget

    init(_ source: [UInt8], _ range: Range<Int>, within budget: ReadingBudget) {
        (self.source, self.range, self.budget) = (source, range, budget)
    }

    /// Parses the complete range.
    ///
    /// - Throws: The first error of libyaml or the composer, or the diagnostic of an exhausted budget.
    func run(into composer: inout Composer) throws(Diagnostic) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        guard unsafe yaml_parser_initialize(parser) == 1 else { throw Self.outOfMemory }
        defer { unsafe yaml_parser_delete(parser) }
        try unsafe source.withUnsafeBufferPointer { (bytes) throws(Diagnostic) in
            let feed = unsafe Feed(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range])), budget)
            defer { withExtendedLifetime(feed) {} }
            unsafe yaml_parser_set_input(
                parser,
                { data, buffer, size, count in
                    unsafe Feed.fill(UnsafeMutableRawBufferPointer(start: buffer, count: size), from: data, count)
                }, Unmanaged.passUnretained(feed).toOpaque())
            unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            do throws(Diagnostic) {
                while try unsafe Self.step(parser, into: &composer) {}
            } catch {
                throw feed.ending ?? error
            }
        }
        try composer.finish()
    }

    /// Handles one event. Returns whether more events follow.
    private static func step(
        _ parser: UnsafeMutablePointer<yaml_parser_t>, into composer: inout Composer
    ) throws(Diagnostic) -> Bool {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw unsafe fault(of: parser, in: &composer) }
        defer { unsafe yaml_event_delete(&event) }
        composer.mark(from: unsafe Int(event.start_mark.index), to: unsafe Int(event.end_mark.index))
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: try composer.beginDocument()
        case YAML_DOCUMENT_END_EVENT: try composer.endDocument(isMarked: unsafe event.data.document_end.implicit == 0)
        case YAML_ALIAS_EVENT: throw composer.alias()
        case YAML_SCALAR_EVENT: try unsafe scalar(event.data.scalar, into: &composer)
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            try unsafe composer.open(.sequence, tag: text(start.tag), hasAnchor: start.anchor != nil)
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            try unsafe composer.open(.mapping, tag: text(start.tag), hasAnchor: start.anchor != nil)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: composer.close()
        case YAML_STREAM_END_EVENT: return false
        default: break
        }
        return true
    }

    private static func scalar(
        _ scalar: yaml_event_t.__Unnamed_union_data.__Unnamed_struct_scalar, into composer: inout Composer
    ) throws(Diagnostic) {
        let style: Composer.Style =
            switch unsafe scalar.style {
            case YAML_PLAIN_SCALAR_STYLE: .plain
            case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: .quoted
            default: .block
            }
        let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        try unsafe composer.scalar(bytes, style: style, tag: text(scalar.tag), hasAnchor: scalar.anchor != nil)
    }

    private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }

    private static func fault(
        of parser: UnsafeMutablePointer<yaml_parser_t>, in composer: inout Composer
    ) -> Diagnostic {
        guard let problem = unsafe parser.pointee.problem else { return outOfMemory }
        let text = unsafe String(cString: problem)
        if unsafe parser.pointee.error == YAML_READER_ERROR {
            return composer.readerFault(text, byteOffset: unsafe Int(parser.pointee.problem_offset))
        }
        let hasContext = unsafe parser.pointee.context != nil
        let problemIndex = unsafe Int(parser.pointee.problem_mark.index)
        let contextIndex = unsafe hasContext ? Int(parser.pointee.context_mark.index) : problemIndex
        return composer.syntaxFault(text, at: problemIndex, startedAt: contextIndex)
    }

    private static var outOfMemory: Diagnostic {
        Diagnostic("not enough memory to read the document", hint: "split it")
    }
}
