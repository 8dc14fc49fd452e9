/// One word of a script: `name`, `name=value`, or the `;` between rules.
struct ScriptWord {
    let name: String
    let value: String?
    let line: Int
    let column: Int

    var isSeparator: Bool { name == ";" && value == nil }

    /// Returns a fault at this word.
    func fault(_ message: String, hint: String) -> FaultScript.Fault {
        FaultScript.Fault(line: line, column: column, message: message, hint: hint)
    }
}

/// One line of a script, not yet split into words.
struct ScriptLine {
    let number: Int
    let bytes: ArraySlice<UInt8>

    /// Splits a text into lines, which end at LF, CR LF or the end of the text.
    static func lines(of text: [UInt8]) -> [ScriptLine] {
        text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
            .map { ScriptLine(number: $0.offset + 1, bytes: $0.element) }
    }

    /// Splits the line into words and drops the comment.
    ///
    /// - Throws: `FaultScript.Fault` for a quote that is never closed.
    func words() throws(FaultScript.Fault) -> ArraySlice<ScriptWord> {
        var words: [ScriptWord] = []
        var rest = bytes
        while let byte = rest.first, byte != UInt8(ascii: "#") {
            if byte == UInt8(ascii: ";") {
                words.append(word(named: ";", value: nil, at: rest.startIndex))
                rest.removeFirst()
            } else if byte.isBlank {
                rest.removeFirst()
            } else {
                words.append(try nextWord(of: &rest))
            }
        }
        return words[...]
    }

    private func nextWord(of rest: inout ArraySlice<UInt8>) throws(FaultScript.Fault) -> ScriptWord {
        let start = rest.startIndex
        let name = rest.prefix { !$0.isBlank && !$0.endsWord && $0 != UInt8(ascii: "=") }
        rest = rest[name.endIndex...]
        guard rest.first == UInt8(ascii: "=") else { return word(named: text(name), value: nil, at: start) }
        rest.removeFirst()
        let value = rest.first == UInt8(ascii: "\"") ? try quoted(&rest) : plain(&rest)
        return word(named: text(name), value: value, at: start)
    }

    private func plain(_ rest: inout ArraySlice<UInt8>) -> String {
        let value = rest.prefix { !$0.isBlank && !$0.endsWord }
        rest = rest[value.endIndex...]
        return text(value)
    }

    private func quoted(_ rest: inout ArraySlice<UInt8>) throws(FaultScript.Fault) -> String {
        let start = rest.startIndex
        var value: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return text(value[...]) }
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        throw word(named: "", value: nil, at: start)
            .fault("a quote is not closed", hint: "end the value with a second \" on the same line")
    }

    private func word(named name: String, value: String?, at index: Int) -> ScriptWord {
        ScriptWord(name: name, value: value, line: number, column: index - bytes.startIndex + 1)
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
    fileprivate var endsWord: Bool { self == UInt8(ascii: ";") || self == UInt8(ascii: "#") }
}
