import Document
import TestSupport
import Testing
import YAML

@Suite struct ParserTests {
    @Test(arguments: [
        ("a: 1\nb:\n- x\n- 'y'\n", "{a=1 b=[x 'y']}"), ("{a: [1, \"2\"], b: {}}", "{a=[1 '2'] b={}}"),
        ("expiration: +3600\ntoken: 0x1F\n", "{expiration=+3600 token=0x1F}"),
        ("a: |\n  x\n  y\nb: >\n  x\n  y\n", "{a='x\ny\n' b='x y\n'}"), ("a: x\n  y\n", "{a=x y}"),
        ("- \n- ~\n", "[ ~]"),
        (#"["\u00e9\n", 'it''s', é, "é"]"#, "['é\n' 'it's' é 'é']"),
        ("'quoted key': 1\n? other\n: 2\n", "{quoted key=1 other=2}"),
        ("# note\n---\na: 1 # note\n", "{a=1}"), ("%YAML 1.2\n---\nx\n", "x"), ("plain", "plain"),
        ("a:\r\n  - 1\r\n", "{a=[1]}"),
        (
            "a: !!str 12\nb: !!int \"3\"\nc: ! 4\nd: !!map {}\ne: !!seq []\nf: !!float 3\n",
            "{a='12' b=3 c='4' d={} e=[] f=3}"
        ),
    ])
    func `a document becomes its values in order`(text: String, expected: String) throws {
        #expect(outline(try read(text).root) == expected)
    }

    @Test func `places count bytes in lines of the file`() throws {
        let root = try read("\u{FEFF}ä: [ö, \"ü\", x]\r\nb:\n  - 🐢: 1\n").root
        #expect(root["ä"]?.elements.map(\.place.column) == [6, 10, 16])
        #expect(root["b"]?.elements.flatMap(\.members).map(\.key.place) == [Place(line: 3, column: 5)])
        #expect(root["b"]?.elements.flatMap(\.members).map(\.value.place) == [Place(line: 3, column: 11)])
        #expect(root["ä"].map { String(decoding: $0.raw, as: UTF8.self) } == "[ö, \"ü\", x]")
    }

    @Test func `text that is in the source is not copied`() throws {
        let tape = try read("a: [740f, '740e', \"740d\"]\nb: \"x\\ty\"\n")
        #expect(String(decoding: tape.arena, as: UTF8.self) == "x\ty")
    }

    @Test(arguments: [
        ("a: 1\n", false), ("a: 1\n...\n", true), ("a: 1\n...", true), ("--- a\n", false), ("a: |\n  ...\n", false),
    ])
    func `three dots mark the end of a document`(text: String, isMarked: Bool) throws {
        #expect(try read(text).isEndMarked == isMarked)
    }

    @Test func `a parser reads one document after another`() throws {
        var parser = YAML.Parser()
        var tape = Tape()
        for (index, text) in ["a: 1\n", "[x, y]\n", "z\n"].enumerated() {
            let source = Array("## \(text)".utf8)
            tape.firstLine = index + 10
            try parser.parse(source, range: 3..<source.count, into: &tape)
            #expect(tape.root.place == Place(line: index + 10, column: 1))
        }
    }

    @Test(arguments: [
        (
            "aps: {alert: Hello, sound: default}\norder: 17\n",
            #"{"aps":{"alert":"Hello","sound":"default"},"order":17}"#
        ),
        (
            "a: no\nb: 0x1F\nc: 0o17\nd: ~\ne:\nf: True\ng: 1.0\nh: 1e3\ni: +.5\n",
            #"{"a":"no","b":31,"c":15,"d":null,"e":null,"f":true,"g":1.0,"h":1e3,"i":0.5}"#
        ),
        ("1: {true: '3'}\n~: x\n", #"{"1":{"true":"3"},"~":"x"}"#), ("- |\n  é \"q\"\n  \\\n", #"["é \"q\"\n\\\n"]"#),
        ("n: 123456789012345678901234567890\n", #"{"n":123456789012345678901234567890}"#), ("'1'", #""1""#),
    ])
    func `a payload becomes JSON by the core schema`(text: String, json: String) throws {
        #expect(String(decoding: try JSONText.bytes(of: try read(text).root), as: UTF8.self) == json)
    }

    @Test(arguments: [".nan", "-.inf", ".INF", "0x1ffffffffffffffff"])
    func `a payload refuses numbers that JSON cannot say`(text: String) throws {
        let root = try read("a:\n  b: \(text)\n").root
        var bytes = Array("kept".utf8)
        #expect(throws: Diagnostic.self) { try JSONText.append(root, to: &bytes) }
        #expect(bytes.starts(with: "kept".utf8))
    }
}
