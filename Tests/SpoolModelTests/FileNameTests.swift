import JobFormat
import SpoolModel
import TestSupport
import Testing

@Suite struct FileNameTests {
    @Test(arguments: [
        ("a.json", FileName.Form.json), ("a.yaml", .yaml), ("a.yml", .yaml), ("a.jsonl", .lines), ("..", nil),
        ("..json", nil), (".json", nil), (".hidden.json", nil), ("a.result.json", nil), ("a.json~", nil),
        ("a.json.tmp", nil), ("a.json.part", nil), ("a.json.filepart", nil), ("a", nil), ("a.JSON", nil),
        ("-rf.json", .json), ("a.json ", nil), (" .json", .json), ("a~2.json", .json), ("json", nil),
    ])
    func `only a job's ending makes a job`(text: String, form: FileName.Form?) {
        #expect(FileName(text)?.form == form)
    }

    @Test(arguments: [[], [0x2E], [0x2E, 0x2E], [0x61, 0x2F], [0x61, 0x00], [UInt8](repeating: 0x61, count: 256)])
    func `what no file can be called is no name`(bytes: [UInt8]) {
        #expect(FileName(bytes: bytes) == nil)
    }

    @Test(arguments: [
        ("café.json", "café.json"), ("a b.json", "a b.json"), ("100%.json", "100%25.json"),
        ("a\nb.json", "a%0Ab.json"), ("a\u{7F}", "a%7F"), ("a\u{85}", "a%C2%85"), ("a\u{2028}", "a%E2%80%A8"),
        ("a\u{202E}nosj", "a%E2%80%AEnosj"),
    ])
    func `escapes are only for what could do harm`(text: String, escaped: String) {
        #expect(FileName(text)?.escaped == escaped)
    }

    @Test func `each byte alone stands for itself or is escaped`() throws {
        for byte in UInt8(1)...UInt8.max where byte != 0x2F && byte != 0x2E {
            let isPlain = byte >= 0x20 && byte < 0x7F && byte != 0x25
            let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            let expected = isPlain ? String(Unicode.Scalar(byte)) : "%" + digits
            let name = try #require(FileName(bytes: [byte]))
            #expect(name.escaped == expected)
        }
    }

    @Test func `an escaped name goes behind what is there, character by character`() throws {
        for seed in UInt64(0)..<2000 {
            var random = SeededGenerator(seed: seed)
            let name = try #require(FileName(bytes: hostileBytes(using: &random)))
            var bytes = Array("before ".utf8)
            name.appendEscaped(to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "before " + name.escaped, "seed \(seed)")
            #expect(name.escaped == escapedByCharacter(name), "seed \(seed)")
        }
    }

    @Test func `bytes that are not UTF-8 are escaped one by one`() {
        #expect(FileName(bytes: [0x61, 0xFF, 0xC3, 0x28, 0xE2, 0x82])?.escaped == "a%FF%C3(%E2%82")
    }

    @Test(arguments: ["%", "%4", "%4g", "a%00", "%2F", ""])
    func `what escaping never wrote is not read back`(text: String) {
        #expect(FileName(escaped: text) == nil)
    }

    @Test func `every name survives escaping, and no two names share an escape`() throws {
        for seed in UInt64(0)..<2000 {
            var random = SeededGenerator(seed: seed)
            let name = try #require(FileName(bytes: hostileBytes(using: &random)))
            #expect(FileName(escaped: name.escaped) == name, "seed \(seed)")
            #expect(String(validating: Array(name.escaped.utf8), as: UTF8.self) != nil, "seed \(seed)")
        }
    }

    @Test func `each single byte survives escaping`() {
        for byte in UInt8.min...UInt8.max where byte != 0 && byte != 0x2F && byte != 0x2E {
            #expect(FileName(bytes: [byte]).flatMap { FileName(escaped: $0.escaped) }?.bytes == [byte])
        }
    }

    @Test func `names that look the same stay two names`() throws {
        let composed = try #require(FileName("caf\u{E9}.json"))
        let decomposed = try #require(FileName("cafe\u{301}.json"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `names of any length that differ in one byte are told apart, and equal ones are not`() throws {
        var names: [FileName] = []
        for count in 1...40 {
            let bytes = [UInt8](repeating: 0x61, count: count)
            names.append(try #require(FileName(bytes: bytes)))
            for place in 0..<count {
                var other = bytes
                other[place] = 0x62
                names.append(try #require(FileName(bytes: other)))
            }
        }
        #expect(Set(names).count == names.count && Set(names.map(\.hashValue)).count == names.count)
        let copies = names.compactMap { FileName(bytes: Array($0.bytes)) }
        #expect(Set(names + copies).count == names.count)
    }

    @Test(arguments: [
        ("a.json", 1, "a.json"), ("a", 1, "a"), ("a.json", 2, "a~2.json"), ("a", 3, "a~3"),
        ("a.b.jsonl", 10, "a.b~10.jsonl"),
    ])
    func `a number goes before the ending`(text: String, number: Int, expected: String) {
        #expect(FileName(text)?.numbered(number).escaped == expected)
    }

    @Test func `a name that grows too long is cut, marked, and keeps its ending`() throws {
        let name = try #require(FileName(String(repeating: "x", count: 250) + ".json"))
        let second = name.numbered(2)
        #expect(second.bytes.count == 255)
        #expect(second.escaped.hasSuffix("~2.json"))
        #expect(second.form == .json)
        #expect(name.numbered(1) == name)
    }

    @Test func `a number of a name is known, and nothing else is taken for one`() throws {
        for text in ["a.json", "a~2.json", "~.yaml", String(repeating: "x", count: 249) + ".jsonl"] {
            let name = try #require(FileName(text))
            for number in [2, 3, 10, 100_000] {
                #expect(name.numbered(number).isNumbered(from: name), "\(text) \(number)")
            }
            #expect(!name.isNumbered(from: name))
        }
        let name = try #require(FileName("a.json"))
        for text in ["b~2.json", "a~1.json", "a~02.json", "a~+2.json", "a~x.json", "a~.json", "a~2.yaml", "a~2~3.json"]
        {
            #expect(try !#require(FileName(text)).isNumbered(from: name), "\(text)")
        }
    }

    @Test func `a cut name has room for its result file`() throws {
        let name = try #require(FileName(String(repeating: "x", count: 250) + ".json"))
        #expect(name.result == nil)
        let cut = name.shortened(toFit: FileName.byteLimitWithResult)
        #expect(cut.result?.bytes.count == 255)
    }

    @Test func `a cut never splits a character`() throws {
        for lead in 0..<4 {
            let text = String(repeating: "x", count: lead) + String(repeating: "\u{1F600}", count: 60) + ".json"
            let cut = try #require(FileName(text)).shortened(toFit: 100)
            #expect(cut.bytes.count <= 100)
            #expect(String(validating: cut.bytes, as: UTF8.self) != nil)
        }
    }

    @Test func `names that differ beyond the cut stay two names`() throws {
        let stem = String(repeating: "x", count: 240)
        let (one, two) = (try #require(FileName(stem + "1.json")), try #require(FileName(stem + "2.json")))
        #expect(one.shortened(toFit: 100) != two.shortened(toFit: 100))
    }

    @Test func `no name is too strange to be numbered and cut`() throws {
        for seed in UInt64(0)..<2000 {
            var random = SeededGenerator(seed: seed)
            let name = try #require(FileName(bytes: hostileBytes(using: &random)))
            let limit = Int.random(in: 64...255, using: &random)
            let fitted = name.numbered(Int.random(in: 1...100_000, using: &random), toFit: limit)
            #expect(fitted.bytes.count <= limit && FileName(bytes: fitted.bytes) != nil, "seed \(seed)")
        }
    }
}

/// What `escaped` promises, by whole characters; the line feed is the only control among the hostile pieces.
private func escapedByCharacter(_ name: FileName) -> String {
    var text = ""
    var rest = name.bytes[...]
    while let byte = rest.first {
        let width = (1...4).first { String(validating: rest.prefix($0), as: UTF8.self) != nil } ?? 0
        if width == 0 || byte == 0x0A || byte == 0x25 {
            text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            rest = rest.dropFirst()
        } else {
            text += String(decoding: rest.prefix(width), as: UTF8.self)
            rest = rest.dropFirst(width)
        }
    }
    return text
}

private func hostileBytes(using random: inout SeededGenerator) -> [UInt8] {
    let pieces: [[UInt8]] = [
        [0xFF], [0xC3], [0xE2, 0x82], [0x25], [0x2E], [0x0A], [0x20], Array("é".utf8), Array("\u{1F600}".utf8),
        Array("x.json".utf8), [0x80], [0x7E], Array("%41".utf8),
    ]
    let count = Int.random(in: 1...80, using: &random)
    let bytes = (0..<count).flatMap { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }
    return Array(([0x61] + bytes).prefix(255))
}
