import Document
import JSON
import TestSupport
import Testing

@Suite struct ParserTests {
    @Test(arguments: [
        (#"{"a":1,"b":[true,false,null],"c":{}}"#, "{a=1 b=[true false null] c={}}"),
        (" [ 1 , \"x\" ] \n", "[1 'x']"), ("\"740f\"", "'740f'"), ("17", "17"), ("null", "null"),
        ("[[],[[]]]", "[[] [[]]]"),
        (#"["é","\u00e9","\ud83d\ude00","\"\\\/\b\f\n\r\t"]"#, "['é' 'é' '😀' '\"\\/\u{8}\u{c}\n\r\t']"),
        (#"{"\u0061b":"x"}"#, "{ab='x'}"), ("{\"\":0}", "{=0}"),
    ])
    func `a document becomes its values in order`(text: String, expected: String) throws {
        #expect(outline(try read(text).root) == expected)
    }

    @Test(arguments: [
        "0", "-0", "1.0", "1e3", "1E+3", "-1.5e-7", "9223372036854775807", "-9223372036854775808",
        "18446744073709551616", "123456789012345678901234567890.123456789012345678901234567890", "1e999999",
    ])
    func `a number of any size keeps its digits`(text: String) throws {
        let element = try read("[\(text)]").root.elements.first { _ in true }
        #expect(element?.kind == .number && element?.text == text)
        #expect(try read(text).root.text == text)
    }

    @Test func `raw ranges cover what was written`() throws {
        let root = try read(#" { "a" : [ 1 , {"b":"\n"} ] } "#).root
        #expect(String(decoding: root.raw, as: UTF8.self) == #"{ "a" : [ 1 , {"b":"\n"} ] }"#)
        #expect(String(decoding: root["a"]?.raw ?? [], as: UTF8.self) == #"[ 1 , {"b":"\n"} ]"#)
        #expect(root["a"]?.count == 2 && root.count == 1)
    }

    @Test func `one parser reads line after line out of one buffer`() throws {
        let buffer = Array("{\"token\":\"a\\nb\"}\n[1,2]\n\"x\"\n".utf8)
        var parser = JSON.Parser()
        var tape = Tape()
        var outlines: [String] = []
        for range in [0..<16, 17..<22, 23..<26] {
            tape.firstLine = outlines.count + 1
            try parser.parse(buffer, range: range, into: &tape)
            outlines.append(outline(tape.root) + "@\(tape.root.place.line)")
        }
        #expect(outlines == ["{token='a\nb'}@1", "[1 2]@2", "'x'@3"])
    }

    @Test(arguments: ["]", "}", ",", "1", "\"", ":1}", "]]]]}}}}", ",\"b\":2}]"])
    func `bytes behind the range are never read as part of it`(tail: String) {
        let tail = [UInt8](repeating: 0, count: 0) + Array(String(repeating: tail, count: 100).utf8)
        var parser = JSON.Parser()
        var tape = Tape()
        for text in [
            "[[1]", "{\"a\":1", "[1", "{\"a\":[]", "[1,", "{\"a\":", "\"a", "tru", "[{}", "[", "{", "[[]", "[{\"a\":1}",
        ] {
            let range = 0..<text.utf8.count
            #expect(throws: Diagnostic.self, "\(text)") {
                try parser.parse(Array(text.utf8) + tail, range: range, into: &tape)
            }
        }
        let number = Array("17".utf8) + tail
        #expect(throws: Never.self) { try parser.parse(number, range: 0..<2, into: &tape) }
    }

    @Test func `a byte order mark is skipped and does not count as a column`() throws {
        let tape = try read("\u{FEFF}{\"a\":1}")
        #expect(tape.root.place == Place(line: 1, column: 1))
        #expect(tape.root["a"]?.place == Place(line: 1, column: 6))
    }

    @Test(arguments: [("{}", true), ("[1]", true), ("\"x\"", true), ("1", false), ("null", false)])
    func `brackets and quotes mark the end of a document`(text: String, isMarked: Bool) throws {
        #expect(try read(text).isEndMarked == isMarked)
    }

    @Test func `places in a long document are exact`() throws {
        let row = String(repeating: " ", count: 997) + "1,\n"
        let text = "[\n" + String(repeating: row, count: 300) + "  \"last\"]"
        let tape = try read(text)
        var places = tape.root.elements.map(\.place)
        #expect(places.popLast() == Place(line: 302, column: 3))
        #expect(places.enumerated().allSatisfy { $1 == Place(line: $0 + 2, column: 998) })
    }
}
