extension FaultFinder {
    /// Reads a number.
    ///
    /// - Throws: The fault of a number that RFC 8259 section 6 does not allow.
    mutating func number() throws(Fault) {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let first = next
        let whole = try digits(in: start)
        guard whole == 1 || first != UInt8(ascii: "0") else {
            throw Fault(
                "a number has a leading zero", hint: "remove the zero, or put double quotes around it", at: start)
        }
        if next == UInt8(ascii: ".") {
            position += 1
            _ = try digits(in: start)
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            _ = try digits(in: start)
        }
        guard let byte = next, !isDelimiter(byte) else { return }
        throw Fault("this is not a valid number", hint: "put double quotes around it to make it a string", at: start)
    }

    private mutating func digits(in start: Int) throws(Fault) -> Int {
        let first = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > first else {
            throw Fault("a digit is missing in a number", hint: "put double quotes around text", at: start)
        }
        return position - first
    }

    /// Reads `true`, `false` or `null`.
    ///
    /// - Throws: The fault of any other word, with a suggestion.
    mutating func word() throws(Fault) {
        let start = position
        while let byte = next, !isDelimiter(byte) { position += 1 }
        let word = String(decoding: source[start..<position], as: UTF8.self)
        switch word {
        case "true", "false", "null": return
        case "True", "TRUE": throw Fault("`\(word)` is not JSON", hint: "write true", at: start)
        case "False", "FALSE": throw Fault("`\(word)` is not JSON", hint: "write false", at: start)
        case "Null", "NULL", "None", "nil", "undefined":
            throw Fault("`\(word)` is not JSON", hint: "write null", at: start)
        default: break
        }
        if source[start] >= 0x80 { try character(at: start) }
        if source[start] == 0 {
            throw Fault("the file contains a NUL byte", hint: "save the file as UTF-8 text", at: start)
        }
        throw Fault(
            word.hasPrefix("'") ? "a string needs double quotes" : "this is not a JSON value",
            hint: "put double quotes around text", at: start)
    }

    /// Reads a string.
    ///
    /// - Throws: A missing end, a character that must be escaped, an invalid escape, or bytes that are not UTF-8.
    mutating func string() throws(Fault) {
        let start = position
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape(in: start)
            case 0..<0x20: throw control(byte, in: start)
            case 0x20..<0x80: position += 1
            default: try character(at: position)
            }
        }
        throw unterminatedString(start)
    }

    private func unterminatedString(_ start: Int) -> Fault {
        Fault("unterminated string", hint: "close it with a double quote", at: start)
    }

    private func control(_ byte: UInt8, in start: Int) -> Fault {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            Fault(
                "unterminated string", hint: "close it before the line ends, or write \\n for a line break", at: start)
        case UInt8(ascii: "\t"): Fault("a tab inside a string", hint: "write \\t", at: position)
        default:
            Fault(
                "a control character inside a string",
                hint: "write \\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))", at: position)
        }
    }

    private mutating func escape(in start: Int) throws(Fault) {
        let escape = position
        position += 1
        guard let byte = next else { throw unterminatedString(start) }
        position += 1
        guard byte == UInt8(ascii: "u") else {
            guard "\"\\/bfnrt".utf8.contains(byte) else {
                throw Fault("unknown escape sequence", hint: "write \\\\ for a backslash", at: escape)
            }
            return
        }
        let unit = try hexadecimal(in: escape)
        guard unit & 0xF800 == 0xD800 else { return }
        let lone = Fault(
            "unpaired surrogate", hint: "write both halves, or the character itself", at: escape)
        guard unit < 0xDC00, source[position..<end].starts(with: "\\u".utf8) else { throw lone }
        position += 2
        guard try hexadecimal(in: escape) & 0xFC00 == 0xDC00 else { throw lone }
    }

    private mutating func hexadecimal(in escape: Int) throws(Fault) -> UInt32 {
        let digits = source[position..<min(position + 4, end)]
        let isHexadecimal = digits.allSatisfy { UnicodeScalar($0).properties.isASCIIHexDigit }
        guard digits.count == 4, isHexadecimal,
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else {
            throw Fault("\\u needs four hexadecimal digits", hint: "write \\u00e9 for é", at: escape)
        }
        position += 4
        return unit
    }

    /// Advances past one non-ASCII character.
    private mutating func character(at start: Int) throws(Fault) {
        var decoder = UTF8()
        var bytes = source[start..<min(start + 4, end)].makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else {
            throw Fault(
                "the byte 0x\(String(source[start], radix: 16)) is not valid UTF-8 here",
                hint: "save the file as UTF-8",
                at: start)
        }
        position = start + UTF8.width(scalar)
    }

    private func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "\""):
            true
        default: false
        }
    }
}
