import Document
import TestSupport
import Testing

@Suite struct JSONWriterTests {
    @Test func `commas come by themselves`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("v")
        writer.integer(1)
        writer.key("list")
        writer.beginArray()
        writer.boolean(true)
        writer.null()
        writer.beginObject()
        writer.endObject()
        writer.raw("1.50".utf8)
        writer.endArray()
        writer.key("last")
        writer.string("x")
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"v":1,"list":[true,null,{},1.50],"last":"x"}"#)
    }

    @Test func `only what must be escaped is escaped`() {
        var writer = JSONWriter()
        writer.string("a\"\\/\u{0}\u{1f}\n\r\t\u{7f}é🐢")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #""a\"\\/\u0000\u001f\n\r\t"# + "\u{7f}é🐢\"")
    }

    @Test func `a new line starts without a comma`() {
        var writer = JSONWriter()
        for index in 0..<2 {
            writer.startLine()
            writer.integer(index)
            writer.bytes.append(UInt8(ascii: "\n"))
        }
        #expect(writer.bytes == Array("0\n1\n".utf8))
    }

    @Test func `a string is escaped wherever it must be, however it is given`() {
        let pieces = ["a", "plain text ", "é🐢", "\"", "\\", "\n", "\r", "\t", "\u{0}", "\u{1F}", "\u{7F}", "/"]
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            var writer = JSONWriter()
            writer.beginArray()
            writer.string(text)
            writer.string(utf8: Array(text.utf8)[...])
            writer.string(spelledBy: { $0.append(contentsOf: text.utf8) })
            writer.endArray()
            let escaped = "\"" + text.unicodeScalars.map(escape).joined() + "\""
            #expect(
                String(decoding: writer.bytes, as: UTF8.self) == "[\(escaped),\(escaped),\(escaped)]", "seed \(seed)")
        }
    }

    /// A character as RFC 8259 has it, in the shortest form.
    private func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case "\0": "\\u0000"
        case "\u{1F}": "\\u001f"
        default: String(scalar)
        }
    }

    @Test func `a number is spelled as its string is, behind what is there`() {
        var numbers = [0, 1, 9, 10, 99, 100, 101, Int.max, Int.max - 1, Int.min, Int.min + 1]
        var power = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power - 1, power, power + 1]
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<1_000 {
            numbers.append(Int.random(in: 0 ... .max, using: &random) >> Int.random(in: 0..<63, using: &random))
        }
        for number in numbers + numbers.map({ 0 &- $0 }) {
            var bytes = Array("before ".utf8)
            bytes.appendDecimal(number)
            #expect(String(decoding: bytes, as: UTF8.self) == "before \(number)")
        }
    }
}
