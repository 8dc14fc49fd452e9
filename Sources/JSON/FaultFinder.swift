/// Finds the first syntax error in a document that simdjson rejected, and describes it.
///
/// simdjson is built to accept valid documents quickly and does not always locate an error. This reader is slower but
/// does. It runs only on rejected documents.
struct FaultFinder {
    /// A syntax error and its offset in the source.
    struct Fault: Error {
        let message: String
        let hint: String?
        let offset: Int

        init(_ message: String, hint: String? = nil, at offset: Int) {
            self.message = message
            self.hint = hint
            self.offset = offset
        }
    }

    let source: [UInt8]
    let end: Int
    var position: Int
    private var depth = 0
    private let depthLimit: Int

    init(_ source: [UInt8], in range: Range<Int>, depth limit: Int) {
        self.source = source
        position = range.lowerBound
        end = range.upperBound
        depthLimit = limit
    }

    /// Returns the first fault, or `nil` if this reader finds none.
    mutating func firstFault() -> Fault? {
        do {
            try document()
            return nil
        } catch {
            return error
        }
    }

    /// The byte at the position, or `nil` at the end.
    var next: UInt8? { position < end ? source[position] : nil }

    /// Skips whitespace.
    ///
    /// - Throws: The fault of a comment, which JSON does not allow.
    mutating func skipSpace() throws(Fault) {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        let isComment = next == UInt8(ascii: "#") || next == UInt8(ascii: "/")
        guard !isComment else {
            throw Fault("JSON has no comments", hint: "remove it, or write the file in YAML", at: position)
        }
    }

    private mutating func document() throws(Fault) {
        try skipSpace()
        guard next != nil else { throw Fault("the document is empty", hint: "write one JSON value", at: position) }
        try value(after: "")
        try skipSpace()
        guard let byte = next else { return }
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
            throw Fault("\(name(byte)) has no opening bracket", hint: "remove it", at: position)
        }
        throw Fault(
            "unexpected text after the end of the document",
            hint: "write one value, or one value per line in a file named .jsonl", at: position)
    }

    private mutating func value(after context: String) throws(Fault) {
        guard let byte = next else { throw Fault("a value is missing\(context)", at: position) }
        switch byte {
        case UInt8(ascii: "{"): try container(closedBy: UInt8(ascii: "}"), isObject: true)
        case UInt8(ascii: "["): try container(closedBy: UInt8(ascii: "]"), isObject: false)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"):
            throw Fault("a value is missing\(context)", hint: "write one before \(name(byte))", at: position)
        default: try word()
        }
    }

    private mutating func container(closedBy bracket: UInt8, isObject: Bool) throws(Fault) {
        let start = position
        depth += 1
        guard depth <= depthLimit else {
            throw Fault(
                "the nesting is deeper than \(depthLimit) levels", hint: "flatten the document, or raise the limit",
                at: start)
        }
        position += 1
        try skipSpace()
        var isFirst = true
        while next != bracket {
            if !isFirst { try comma(in: start, closedBy: bracket, isObject: isObject) }
            isFirst = false
            if isObject { try key(in: start) }
            if next == nil { throw unterminated(start) }
            try value(after: isObject ? " after the key" : "")
            try skipSpace()
            if next == nil { throw unterminated(start) }
        }
        position += 1
        depth -= 1
    }

    private mutating func comma(in start: Int, closedBy bracket: UInt8, isObject: Bool) throws(Fault) {
        let comma = position
        guard let byte = next else { throw unterminated(start) }
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: ":") {
            throw Fault("unexpected \(name(byte))", hint: "expected a comma or \(name(bracket))", at: position)
        }
        guard byte == UInt8(ascii: ",") else {
            throw Fault(
                "a comma is missing between \(isObject ? "members" : "elements")",
                hint: "write one before this", at: position)
        }
        position += 1
        try skipSpace()
        guard next != bracket else {
            throw Fault("trailing comma", hint: "remove the comma before \(name(bracket))", at: comma)
        }
    }

    private mutating func key(in start: Int) throws(Fault) {
        guard let byte = next else { throw unterminated(start) }
        guard byte == UInt8(ascii: "\"") else {
            let isMissing = byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":")
            throw Fault(
                isMissing ? "a key is missing" : "a key must be a string in double quotes",
                hint: isMissing ? "write one before \(name(byte))" : "write \"key\": value", at: position)
        }
        try string()
        try skipSpace()
        guard next != nil else { throw unterminated(start) }
        guard next == UInt8(ascii: ":") else {
            throw Fault("a colon is missing after the key", hint: "write \"key\": value", at: position)
        }
        position += 1
        try skipSpace()
    }

    private func unterminated(_ start: Int) -> Fault {
        let isObject = source[start] == UInt8(ascii: "{")
        return Fault(
            "the document ends inside \(isObject ? "an object" : "an array")",
            hint: "the file may be incomplete; expected \(isObject ? "`}`" : "`]`")", at: end)
    }

    /// Returns the byte as a character in backticks.
    func name(_ byte: UInt8) -> String { "`\(Character(UnicodeScalar(byte)))`" }
}
