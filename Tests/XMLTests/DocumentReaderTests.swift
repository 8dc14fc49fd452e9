import Document
import Testing
import XML

struct DocumentReaderTests {
    @Test(arguments: [
        ("<a/>", "<a >"), ("<a></a>", "<a >"), ("\u{FEFF}<a/>\n", "<a >"),
        ("<?xml version='1.0'?>\n<!-- c --><a x='1'>t<b/>u</a><!-- d -->", "<a 't' <b > 'u' >"),
        ("<a>x<!-- c -->y<?p i?>z<![CDATA[<&>]]>&lt;&#x2014;&#10;</a>", "<a 'xyz<&><—\n' >"),
        ("<a>one\r\ntwo\rthree\n\n</a>", "<a 'one\ntwo\nthree\n\n' >"),
        ("<ex:nil xmlns:ex='urn:x'/>", "<ex:nil >"), ("<ä>ö</ä>", "<ä 'ö' >"), ("<a> </a>", "<a ' ' >"),
    ])
    func `a document is read as its elements and their text`(text: String, events: String) throws {
        #expect(try outline(Array(text.utf8)) == events)
    }

    @Test func `text in the other two encodings is reported in UTF-8`() throws {
        let latin = Array("<?xml version='1.0' encoding='iso-8859-1'?><a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(try outline(latin) == "<a 'é' >")
        #expect(try outline(Array("<?xml version='1.0' encoding='US-ASCII'?><a>e</a>".utf8)) == "<a 'e' >")
    }

    @Test(arguments: [255, 256, 257, 5000])
    func `a document may have more events than are read at once`(count: Int) throws {
        let text = "<a>" + String(repeating: "x<b/>", count: count) + "y</a>"
        let expected = "<a " + String(repeating: "'x' <b > ", count: count) + "'y' >"
        #expect(try outline(Array(text.utf8)) == expected)
    }

    @Test func `long text is one event`() throws {
        let text = String(repeating: "0123456789&amp;\n", count: 100_000)
        let reader = DocumentReader(Array("<a>\(text)</a>".utf8), depth: 1, byteCount: 2 << 20)
        #expect(try reader.next() == .begin("a"))
        #expect(try reader.next() == .text(Array(text.replacing("&amp;", with: "&").utf8)))
        #expect(try reader.next() == .end)
        #expect(try reader.next() == nil)
        #expect(try reader.next() == nil)
    }

    @Test func `every event has its place`() throws {
        let reader = DocumentReader(Array("\u{FEFF}<a>\n  <b>x\ny</b></a>".utf8), depth: 8, byteCount: 100)
        var places: [[Int]] = []
        while try reader.next() != nil { places.append([reader.place.line, reader.place.column]) }
        #expect(places == [[1, 1], [1, 4], [2, 3], [2, 6], [3, 2], [3, 6]])
    }

    @Test func `events before an error are reported, and the error again and again`() throws {
        let reader = DocumentReader(Array("<a><b/></c>".utf8), depth: 8, byteCount: 100)
        #expect(try reader.next() == .begin("a"))
        #expect(try reader.next() == .begin("b"))
        #expect(try reader.next() == .end)
        for _ in 0..<2 { #expect(throws: Diagnostic.self) { try reader.next() } }
    }
}
