import Document
import JSON
import Testing

@Suite struct FaultTests {
    @Test(arguments: [
        ("", 1, 1, "the document is empty"), (" \n ", 2, 2, "the document is empty"),
        ("{\"a\":1,}", 1, 7, "trailing comma"), ("[1,\n2,\n]", 2, 2, "trailing comma"),
        ("[1 2]", 1, 4, "a comma is missing between elements"),
        ("{\"a\":1\n\"b\":2}", 2, 1, "a comma is missing between members"),
        ("[,1]", 1, 2, "a value is missing"), ("[1,,2]", 1, 4, "a value is missing"),
        ("{\"a\":}", 1, 6, "a value is missing after the key"), ("{\"a\" 1}", 1, 6, "a colon is missing after the key"),
        ("{a:1}", 1, 2, "a key must be a string in double quotes"), ("{\"a\":1,:2}", 1, 8, "a key is missing"),
        ("[1", 1, 3, "the document ends inside an array"), ("{\"a\":[1]", 1, 9, "the document ends inside an object"),
        ("[[1]", 1, 5, "the document ends inside an array"), ("{\"a\":", 1, 6, "the document ends inside an object"),
        ("[1}", 1, 3, "unexpected `}`"), ("[1]]", 1, 4, "`]` has no opening bracket"),
        ("]", 1, 1, "a value is missing"),
        ("{} {}", 1, 4, "unexpected text after the end of the document"),
        ("1 2", 1, 3, "unexpected text after the end of the document"),
        ("\"a\" x", 1, 5, "unexpected text after the end of the document"),
        ("[1] // no", 1, 5, "JSON has no comments"), ("{\"a\":1} # no", 1, 9, "JSON has no comments"),
    ])
    func `a fault of structure has its place and name`(text: String, line: Int, column: Int, message: String) {
        let fault = fault(text)
        #expect(fault?.place == Place(line: line, column: column))
        #expect(fault?.message == message)
    }

    @Test(arguments: [
        ("[\"abc]", 2, "unterminated string"), ("[\"a\nb\"]", 2, "unterminated string"),
        ("\"abc", 1, "unterminated string"),
        ("\"abc\\", 1, "unterminated string"), ("[\"a\tb\"]", 4, "a tab inside a string"),
        ("[\"a\u{1}\"]", 4, "a control character inside a string"), (#"["\x"]"#, 3, "unknown escape sequence"),
        (#"["\u12g4"]"#, 3, "\\u needs four hexadecimal digits"), (#"["\ud800"]"#, 3, "unpaired surrogate"),
        (#"["\udc00"]"#, 3, "unpaired surrogate"), (#"["\ud800\ud800"]"#, 3, "unpaired surrogate"),
        (#"{"\ud800":1}"#, 3, "unpaired surrogate"), (#"["\ud83dx\ude00"]"#, 3, "unpaired surrogate"),
        ("[01]", 2, "a number has a leading zero"), ("[1.]", 2, "a digit is missing in a number"),
        ("[-]", 2, "a digit is missing in a number"), ("[1e]", 2, "a digit is missing in a number"),
        ("[0x1F]", 2, "this is not a valid number"),
        ("[+1]", 2, "this is not a JSON value"), ("[.5]", 2, "this is not a JSON value"),
        ("[True]", 2, "`True` is not JSON"),
        ("[None]", 2, "`None` is not JSON"), ("[NaN]", 2, "this is not a JSON value"),
        ("['a']", 2, "a string needs double quotes"),
        ("[nulll]", 2, "this is not a JSON value"), ("[\u{0}]", 2, "the file contains a NUL byte"),
    ])
    func `a fault of a scalar has its place and name`(text: String, column: Int, message: String) {
        let fault = fault(text)
        #expect(fault?.place == Place(line: 1, column: column))
        #expect(fault?.message == message)
    }

    @Test(
        arguments: [[0xFF, 0xFE, 0x5B, 0], [0xFE, 0xFF, 0, 0x5B], [0x5B, 0, 0x5D, 0], [0, 0x5B, 0, 0x5D]] as [[UInt8]])
    func `UTF-16 is refused by name`(bytes: [UInt8]) {
        #expect(fault(bytes)?.message == "the document is in UTF-16")
    }

    @Test(
        arguments: [[0xE9], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]])
    func `bytes that are not UTF-8 are refused where they are`(bytes: [UInt8]) {
        let fault = fault(Array("[1,\n\"a".utf8) + bytes + Array("\"]".utf8))
        #expect(fault?.place == Place(line: 2, column: 3))
        #expect(fault?.hint == "save the file as UTF-8")
    }

    @Test(arguments: ["[", "{\"a\":"]) func `nesting is allowed to 64 levels and not one more`(opening: String) {
        func nested(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + (opening == "[" ? "" : "1")
                + String(repeating: opening == "[" ? "]" : "}", count: depth)
        }
        #expect(fault(nested(64)) == nil)
        #expect(fault(nested(65))?.message == "the nesting is deeper than 64 levels")
        #expect(fault(nested(65))?.place == Place(line: 1, column: 64 * opening.utf8.count + 1))
        #expect(fault(String(repeating: opening, count: 500_000))?.message == "the nesting is deeper than 64 levels")
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, 8), (#"{"a":1,"\u0061":2}"#, 8), (#"[{"x":{"k":0,"b":1,"k":2}}]"#, 20),
        (#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"\u0033":3}"#, 62),
    ])
    func `a repeated key is refused at any depth however it is written`(text: String, column: Int) {
        let fault = fault(text)
        #expect(fault?.message.hasSuffix("appears twice") == true)
        #expect(fault?.place == Place(line: 1, column: column))
    }

    @Test func `limits are told with what to do instead`() {
        var limits = DocumentLimits(byteCount: 20, eventCount: 3)
        #expect(fault("[1,2]", limits: limits) == nil)
        #expect(fault("[1,2,3]", limits: limits)?.hint?.contains(".jsonl") == true)
        limits.byteCount = 4
        #expect(fault("[1,2]", limits: limits)?.message == "the document has 5 bytes; the limit is 4")
    }
}
