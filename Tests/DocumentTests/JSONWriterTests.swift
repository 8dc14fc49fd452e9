import Document
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
}
