import Document
import Testing
import YAML

@Suite struct FaultTests {
    @Test(arguments: [
        ("", 1, 1, "the document is empty"), ("# only a note\n", 1, 1, "the document is empty"),
        ("a: &x 1\n", 1, 4, "anchors are not supported"), ("a: *x\n", 1, 4, "aliases are not supported"),
        ("a: 1\n<<: {b: 2}\n", 2, 1, "merge keys are not supported"),
        ("a: !mine 1\n", 1, 4, "the tag `!mine` is not supported"),
        ("a: !!binary aGk=\n", 1, 4, "the tag `tag:yaml.org,2002:binary` is not supported"),
        ("a: !!int x\n", 1, 4, "`x` does not match its tag"),
        ("a: !!map [1]\n", 1, 4, "the tag `tag:yaml.org,2002:map` is not supported"),
        ("a: 1\n---\nb: 2\n", 2, 1, "the file has more than one document"),
        ("{[1]: 2}\n", 1, 2, "a key must be a single value"),
        ("a: 1\nb: 2\na: 3\n", 3, 1, "the key `a` appears twice"),
        ("- {x: 1, \"x\": 2}\n", 1, 10, "the key `x` appears twice"),
    ])
    func `what plain data has no need of is refused`(text: String, line: Int, column: Int, message: String) {
        let fault = fault(text)
        #expect(fault?.message == message)
        #expect(fault?.place == Place(line: line, column: column))
    }

    @Test(arguments: [
        ("a: \"x\nb: 1\n", 1, 4, "unterminated string"), ("ä: 'x\n", 1, 5, "unterminated string"),
        ("a:\n\t- 1\n", 2, 1, "a tab is used for indentation"), ("a: @x\n", 1, 4, "a value cannot start with `@`"),
        ("a: b: c\n", 1, 5, "unexpected colon"), ("a: 1\nb\nc: 2\n", 2, 1, "the colon after a key is missing"),
        ("a: 1\n b: 2\n", 2, 3, "unexpected colon"), ("a: [1, 2\nb: 3\n", 2, 2, "a comma or `]` is missing"),
        ("a: {b: 1\n", 2, 1, "a comma or `}` is missing"), ("a: \"\\q\"\n", 1, 5, "unknown escape sequence"),
        ("  a: 1\n b: 2\n", 2, 2, "unexpected text after the end of the document"),
        ("a: - 1\n", 1, 4, "unexpected `-`"),
        ("a: \"\\ud800\"\n", 1, 7, "an escape sequence is not a Unicode character"),
        ("ü: 1\na: \u{0}\n", 2, 4, "the file contains a NUL byte"),
        ("ü: 1\na: \u{1}\n", 2, 4, "a control character is not allowed here"),
    ])
    func `a fault of syntax has its place and a remedy`(text: String, line: Int, column: Int, message: String) {
        let fault = fault(text)
        #expect(fault?.message == message)
        #expect(fault?.place == Place(line: line, column: column))
        #expect(fault?.hint != nil)
    }

    @Test(arguments: ["\u{85}", "\u{2028}", "\u{2029}"])
    func `the line breaks of YAML 1.1 are refused wherever they are`(mark: Unicode.Scalar) {
        for text in [
            "a: 1\nb: \"x\(mark)y\"\n", "a: 1\nb: 'x\(mark)y'\n", "a: 1\nb:  x\(mark)c: 3\n",
            "a: 1\n#   x\(mark)c: 3\n",
        ] {
            let fault = fault(text)
            #expect(fault?.place == Place(line: 2, column: 6), "\(text)")
            #expect(fault?.message.contains(String(mark.value, radix: 16).uppercased()) == true)
            #expect(fault?.hint?.contains("in double quotes, or write the file as JSON") == true)
        }
    }

    @Test func `a byte order mark within a document is refused where libyaml would drop it`() throws {
        #expect(
            fault("a: 1\n\u{FEFF}b: 2\n")?.message == "the character U+FEFF (byte order mark) is not supported here")
        #expect(fault("\u{FEFF}\u{FEFF}a: 1\n")?.place == Place(line: 1, column: 1))
        #expect(try read("\u{FEFF}a: \"x\u{FEFF}y\"\n").root["a"]?.text == "x\u{FEFF}y")
    }

    @Test func `what looks like a line break of YAML 1.1 may be written as an escape`() throws {
        let text = try read(#"a: "x\N\L\P\uFEFFy""#).root["a"]?.text
        #expect(text == "x\u{85}\u{2028}\u{2029}\u{FEFF}y")
    }

    @Test(arguments: [[0xE9], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFF]] as [[UInt8]])
    func `bytes that are not UTF-8 are refused where they are`(bytes: [UInt8]) {
        let fault = fault(Array("ü: 1\nb: x".utf8) + bytes + Array("y\n".utf8))
        #expect(fault?.place == Place(line: 2, column: 5))
        #expect(fault?.hint == "save the file as UTF-8")
    }

    @Test(arguments: ["[", "- ", "{a: "]) func `nesting is allowed to 64 levels and not one more`(opening: String) {
        func nested(_ depth: Int) -> String {
            let closing = opening == "[" ? "]" : opening == "- " ? "" : "}"
            return String(repeating: opening, count: depth) + "x" + String(repeating: closing, count: depth)
        }
        #expect(fault(nested(64)) == nil)
        #expect(fault(nested(65))?.message == "the nesting is deeper than 64 levels")
        #expect(fault(nested(65))?.place == Place(line: 1, column: 64 * opening.utf8.count + 1))
        #expect(fault(String(repeating: opening, count: 100_000))?.message == "the nesting is deeper than 64 levels")
    }

    @Test func `limits are told with what to do instead`() {
        #expect(fault("[1, 2]", limits: DocumentLimits(eventCount: 3)) == nil)
        #expect(fault("[1, 2, 3]", limits: DocumentLimits(eventCount: 3))?.hint?.contains(".jsonl") == true)
        #expect(fault([0xFF, 0xFE, 0x61, 0])?.message == "the document is in UTF-16")
    }
}
