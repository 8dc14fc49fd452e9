import Document

/// Turns the elements of an XML-RPC call into a method's name and JSON, as they arrive.
///
/// | XML-RPC | JSON |
/// |---|---|
/// | `string`, and a `value` without a type | string |
/// | `int`, `i4`, `i8`: 64 bits each | number |
/// | `boolean`: 0 or 1 | `false`, `true` |
/// | `double`: any finite decimal number | the same number, digit for digit |
/// | `array`, `struct` | array, object |
/// | `nil`, `ex:nil` | `null` |
///
/// `dateTime.iso8601` and `base64` are rejected: JSON has neither, and pyapns did not send them either. Element names
/// include their prefix. After an error the reader is of no further use.
package struct MethodCallReader: Sendable {
    private struct Open {
        let element: CallElement
        var childCount = 0
        /// The names in a `struct` so far.
        var names: Set<[UInt8]> = []
    }

    private let depth: Int
    private var open: [Open] = []
    /// The text of the innermost element.
    private var text: [UInt8] = []
    private var writer = JSONWriter()
    private var method: String?
    /// The number of open arrays and objects.
    private var level = 1
    private var hasEnded = false

    /// Creates a reader.
    ///
    /// - Parameter depth: The maximum nesting depth of the JSON, which includes the array of the parameters.
    package init(depth: Int) {
        self.depth = depth
        writer.beginArray()
    }

    /// Returns the nesting depth that the elements of a call need for JSON of this depth: an XML parser may stop beyond it.
    package static func elementDepth(for depth: Int) -> Int { 3 * depth + 2 }

    /// Reads the start of an element.
    ///
    /// - Throws: -32600 if the element is unknown or cannot stand here; -32602 if JSON does not have its type.
    package mutating func begin(_ name: String) throws(MethodFault) {
        guard let element = CallElement(rawValue: name) else {
            throw .invalidCall("XML-RPC has no element \(Diagnostic.quoted(name))")
        }
        try place(element)
        switch element {
        case .array, .structure: try nest(element)
        case .time: throw .invalidParameters("JSON has no `dateTime.iso8601`; send the time as a string or a number")
        case .base64:
            throw .invalidParameters("JSON has no `base64`; send text, such as a PEM certificate, as a string")
        case .methodCall, .methodName, .params, .param, .value, .data, .member, .name, .string, .int, .i4, .i8,
            .boolean, .double, .null, .extendedNull:
            break
        }
        open.append(Open(element: element))
        text.removeAll(keepingCapacity: true)
    }

    /// Reads text, valid UTF-8, of the innermost element. Pieces are joined.
    ///
    /// - Throws: -32600 if text cannot stand here.
    package mutating func append(text piece: [UInt8]) throws(MethodFault) {
        guard let top = open.last else { return try refuseUnlessBlank(piece, in: "a call") }
        guard top.element.holdsText, top.childCount == 0 else {
            return try refuseUnlessBlank(piece, in: Self.quoted(top.element))
        }
        text.append(contentsOf: piece)
    }

    /// Reads the end of the innermost element.
    ///
    /// - Throws: -32600 if the element is not complete, a member repeats a name, or a value does not fit its type.
    package mutating func end() throws(MethodFault) {
        guard let top = open.popLast() else { throw .invalidCall("an element ends that did not begin") }
        if let content = top.element.content, top.childCount < content.childCount {
            throw .invalidCall("\(Self.quoted(top.element)) must have \(content.text)")
        }
        switch top.element {
        case .methodCall: hasEnded = true
        case .methodName: try readMethod()
        case .name: try readMemberName()
        case .value: if top.childCount == 0 { writer.string(utf8: text[...]) }
        case .string: writer.string(utf8: text[...])
        case .int, .i4, .i8: writer.integer(try integer(top.element))
        case .boolean: writer.boolean(try boolean())
        case .double: writer.raw(try double().utf8)
        case .null, .extendedNull: writer.null()
        case .array:
            writer.endArray()
            level -= 1
        case .structure:
            writer.endObject()
            level -= 1
        case .params, .param, .data, .member, .time, .base64: break
        }
        text.removeAll(keepingCapacity: true)
    }

    /// Returns the complete call.
    ///
    /// - Throws: -32600 if the call has not ended.
    package consuming func finish() throws(MethodFault) -> MethodCall {
        guard hasEnded, let method else { throw .invalidCall("the call is not complete") }
        writer.endArray()
        return MethodCall(method: method, parameters: writer.bytes)
    }

    // MARK: Structure

    /// Checks that an element may stand here, and counts it.
    private mutating func place(_ element: CallElement) throws(MethodFault) {
        guard let parent = open.last else {
            guard element == .methodCall, !hasEnded else {
                throw .invalidCall("a call must be one `methodCall` (got \(Self.quoted(element)))")
            }
            return
        }
        guard parent.element.admits(element, at: parent.childCount) else {
            throw .invalidCall("\(Self.quoted(element)) cannot stand here in \(Self.quoted(parent.element))")
        }
        try refuseUnlessBlank(text, in: "\(Self.quoted(parent.element)) with a type")
        open[open.count - 1].childCount += 1
    }

    private mutating func nest(_ element: CallElement) throws(MethodFault) {
        guard level < depth else {
            throw .invalidCall("the parameters are nested deeper than \(depth) levels; flatten them")
        }
        level += 1
        if element == .array { writer.beginArray() } else { writer.beginObject() }
    }

    private func refuseUnlessBlank(_ piece: [UInt8], in place: String) throws(MethodFault) {
        guard piece.allSatisfy(Self.isBlank) else { throw .invalidCall("text cannot stand in \(place); remove it") }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func quoted(_ element: CallElement) -> String { "`\(element.rawValue)`" }

    // MARK: Text

    private mutating func readMethod() throws(MethodFault) {
        let name = trimmedText
        guard !name.isEmpty else { throw .invalidCall("the name of the method is empty") }
        method = name
    }

    private mutating func readMemberName() throws(MethodFault) {
        // The element has ended, so the innermost is its `member`, within the `struct`.
        let isNew = open.count >= 2 && open[open.count - 2].names.insert(text).inserted
        guard isNew else {
            let name = Diagnostic.quoted(String(decoding: text, as: UTF8.self))
            throw .invalidCall("a `struct` has the member \(name) twice; remove one")
        }
        writer.key(utf8: text[...])
    }

    private func integer(_ element: CallElement) throws(MethodFault) -> Int {
        guard let value = Int(trimmedText) else {
            throw mismatch("a whole number of at most 64 bits", element)
        }
        return value
    }

    private func boolean() throws(MethodFault) -> Bool {
        switch trimmedText {
        case "0": return false
        case "1": return true
        default: throw mismatch("0 or 1", .boolean)
        }
    }

    private func double() throws(MethodFault) -> String {
        let trimmed = Array(trimmedText.utf8)
        // YAML's numbers are those of XML-RPC, and hexadecimal and octal ones.
        guard !trimmed.contains(UInt8(ascii: "x")), !trimmed.contains(UInt8(ascii: "o")) else {
            throw mismatch("a finite decimal number", .double)
        }
        switch CoreSchema.resolve(trimmed[...]) {
        case .integer(let json), .float(let json): return json
        case .null, .boolean, .unwritable, .string: throw mismatch("a finite decimal number", .double)
        }
    }

    private func mismatch(_ expected: String, _ element: CallElement) -> MethodFault {
        let got = Diagnostic.quoted(String(decoding: text, as: UTF8.self))
        return .invalidCall("\(Self.quoted(element)) must be \(expected) (got \(got))")
    }

    private var trimmedText: String {
        guard let last = text.lastIndex(where: { !Self.isBlank($0) }) else { return "" }
        return String(decoding: text[...last].drop(while: Self.isBlank), as: UTF8.self)
    }
}
