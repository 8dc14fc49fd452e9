import CExpat
package import Document

/// Reads an XML document in memory, one event at a time, with libexpat.
///
/// Accepts UTF-8, US-ASCII and ISO-8859-1; text is always reported as UTF-8. Rejects any DOCTYPE, so there are no entities
/// except the five of XML. Attributes, comments and processing instructions must be well-formed and are not reported.
@safe package final class DocumentReader {
    /// A part of a document.
    package enum Event: Hashable, Sendable {
        /// The start of an element, with its name as written, prefix included.
        case begin(String)
        /// All text up to the next start or end of an element, as UTF-8; never empty.
        case text([UInt8])
        /// The end of the innermost element.
        case end
    }

    /// The number of events after which libexpat pauses, so that a document cannot make memory grow by its number of tags.
    private static let batch = 256

    private let parser: OpaquePointer
    private let source: [UInt8]
    private let depthLimit: Int
    private var depth = 0
    private var events: [(event: Event, offset: Int)] = []
    private var first = 0
    /// The text since the last tag, and where it began.
    private var text: [UInt8] = []
    private var textOffset = 0
    /// The offset of the last event that was returned.
    private var offset = 0
    private var hasBegun = false
    private var hasEnded = false
    /// The error that ends the document, thrown after the events before it.
    private var failure: Diagnostic?

    /// Creates a reader of one document.
    ///
    /// - Parameters:
    ///   - source: The bytes of the document.
    ///   - depth: The maximum nesting depth of elements.
    ///   - byteCount: The maximum size of the document; clamped to 1 GiB.
    package init(_ source: [UInt8], depth: Int, byteCount: Int) {
        guard let parser = unsafe XML_ParserCreate(nil) else { fatalError("out of memory for an XML parser") }
        unsafe self.parser = parser
        self.source = source
        depthLimit = depth
        failure = Self.refusal(of: source, limit: min(byteCount, DocumentLimits.largestByteCount))
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(
            parser, { data, name, _ in unsafe DocumentReader.owner(of: data)?.begin(name) },
            { data, _ in unsafe DocumentReader.owner(of: data)?.end() })
        unsafe XML_SetCharacterDataHandler(parser) { data, bytes, count in
            unsafe DocumentReader.owner(of: data)?.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            unsafe DocumentReader.owner(of: data)?.refuseDoctype()
        }
    }

    deinit { unsafe XML_ParserFree(parser) }

    /// The place of the last event that was returned; the start of the document before the first. Takes time in
    /// proportion to the document.
    package var place: Place { place(at: offset) }

    /// Returns the next event, or `nil` after the end of the document.
    ///
    /// - Throws: The first error of the document, with its place, at this and every later call. Discard what was read.
    package func next() throws(Diagnostic) -> Event? {
        while first == events.count {
            if let failure { throw failure }
            guard !hasEnded else { return nil }
            fill()
        }
        defer { first += 1 }
        offset = events[first].offset
        return events[first].event
    }

    /// Lets libexpat read until it pauses or ends.
    private func fill() {
        events.removeAll(keepingCapacity: true)
        first = 0
        switch hasBegun ? unsafe XML_ResumeParser(parser) : begin() {
        case XML_STATUS_SUSPENDED: break
        case XML_STATUS_OK: hasEnded = true
        default: failure = failure ?? fault
        }
    }

    /// Hands over the complete document, which libexpat copies. In pieces, a long token would be read again with each.
    private func begin() -> XML_Status {
        hasBegun = true
        return unsafe source.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe XML_Parse(parser, start, Int32(bytes.count), 1)
        }
    }

    // MARK: Handlers

    private static func owner(of data: UnsafeMutableRawPointer?) -> DocumentReader? {
        unsafe data.map { unsafe Unmanaged<DocumentReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func begin(_ name: UnsafePointer<XML_Char>?) {
        guard depth < depthLimit else {
            return stop(
                Diagnostic("the nesting is deeper than \(depthLimit) levels", hint: "flatten the document", at: here))
        }
        depth += 1
        add(.begin(unsafe name.map { unsafe String(cString: $0) } ?? ""))
    }

    private func end() {
        depth -= 1
        add(.end)
    }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        if text.isEmpty { textOffset = byteIndex }
        unsafe text.append(contentsOf: bytes)
    }

    private func refuseDoctype() {
        stop(Diagnostic("a document type declaration is not allowed", hint: "remove `<!DOCTYPE …>`", at: here))
    }

    private func add(_ event: Event) {
        // After the last allowed event libexpat may still report the end of an empty element.
        guard failure == nil else { return }
        if !text.isEmpty {
            events.append((.text(text), textOffset))
            text = []
        }
        events.append((event, byteIndex))
        if events.count >= Self.batch { unsafe XML_StopParser(parser, XML_Bool(XML_TRUE)) }
    }

    private func stop(_ diagnostic: Diagnostic) {
        if failure == nil { failure = diagnostic }
        unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    // MARK: Errors

    /// The offset of the event that libexpat reports now.
    private var byteIndex: Int { min(max(0, unsafe XML_GetCurrentByteIndex(parser)), source.count) }

    private var here: Place { place(at: byteIndex) }

    private var fault: Diagnostic {
        var index = byteIndex
        // libexpat reports the byte after an ampersand.
        if index > 0, source[index - 1] == UInt8(ascii: "&") { index -= 1 }
        let fault = SyntaxFault(
            unsafe XML_GetErrorCode(parser), byte: index < source.count ? source[index] : nil)
        return Diagnostic(fault.message, hint: fault.hint, at: place(at: index))
    }

    private func place(at offset: Int) -> Place {
        let before = source[..<offset]
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? (isMarked ? min(3, offset) : 0)
        return Place(line: 1 + before.count { $0 == UInt8(ascii: "\n") }, column: 1 + offset - start)
    }

    private var isMarked: Bool { source.starts(with: [0xEF, 0xBB, 0xBF]) }

    /// Rejects a document for its size or for UTF-16 and UTF-32, which have a zero or a byte order mark at the start.
    private static func refusal(of source: [UInt8], limit: Int) -> Diagnostic? {
        let place = Place(line: 1, column: 1)
        guard source.count <= limit else {
            return Diagnostic(
                "the document has \(source.count) bytes; the limit is \(limit)", hint: "send less at a time", at: place)
        }
        let head = source.prefix(2)
        guard head.contains(0) || head == [0xFE, 0xFF] || head == [0xFF, 0xFE] else { return nil }
        return Diagnostic("the document is in UTF-16 or UTF-32", hint: "send it in UTF-8", at: place)
    }
}
