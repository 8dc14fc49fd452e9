import Document
import Testing
import XML

struct FaultTests {
    @Test(arguments: [
        ("", 1, 1, "the document is not complete"), ("  \n", 2, 1, "the document is not complete"),
        ("<a>", 1, 4, "the document is not complete"), ("x", 1, 1, "this cannot stand outside of the root element"),
        ("<a><b></a></b>", 1, 9, "the end tag does not match the start tag"),
        ("<a/>\n<b/>", 2, 1, "something follows the end of the document"),
        ("<a>\n&x;</a>", 2, 1, "the entity is not defined"), ("<a>&#0;</a>", 1, 4, "XML does not allow this character"),
        ("<a>&#xFFFE;</a>", 1, 4, "XML does not allow this character"),
        ("<a>x & y</a>", 1, 6, "`&` does not start an entity"),
        ("<a x='1' x='2'/>", 1, 10, "an attribute appears twice"),
        ("\n<?xml version='1.0'?><a/>", 2, 1, "the XML declaration is not at the start"),
        ("<?xml?><a/>", 1, 6, "the XML declaration is invalid"),
        ("<a>x\u{1}</a>", 1, 5, "a control character is not allowed here"),
        ("<a <", 1, 4, "this is not well-formed XML"), ("<a><![CDATA[x", 1, 14, "the document ends within a tag"),
        ("<a", 1, 1, "the document ends within a tag"), ("<a>x<", 1, 5, "the document ends within a tag"),
        ("<?xml version='1.0' encoding='koi8-r'?><a/>", 1, 31, "the encoding is not supported"),
        ("<?xml version='1.0' encoding='utf-16'?><a/>", 1, 31, "the document is not in its declared encoding"),
    ])
    func `a fault of syntax has its place and a remedy`(text: String, line: Int, column: Int, message: String) {
        let fault = fault(Array(text.utf8))
        #expect(fault?.message.hasPrefix(message) == true, "\(String(describing: fault))")
        #expect(fault?.place == Place(line: line, column: column))
        #expect(fault?.hint?.isEmpty == false)
    }

    @Test(arguments: [
        "<!DOCTYPE a><a/>", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "<!DOCTYPE a PUBLIC 'p' 'http://x/'><a/>",
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://x/'>%x;]><a/>",
        "<!DOCTYPE a [<!ENTITY x '&y;'><!ENTITY y '&x;'>]><a>&x;</a>",
        "<?xml version='1.0' standalone='no'?><!DOCTYPE a []><a/>",
    ])
    func `a document type declaration is refused before it has any effect`(text: String) {
        #expect(fault(Array(text.utf8))?.message == "a document type declaration is not allowed")
    }

    @Test(
        arguments: [[0xFE, 0xFF], [0xFF, 0xFE], [0x3C, 0], [0, 0x3C], [0, 0, 0xFE, 0xFF], [0x3C, 0, 0, 0]] as [[UInt8]])
    func `UTF-16 and UTF-32 are refused`(head: [UInt8]) {
        #expect(fault(head + [0x61, 0, 0x2F, 0, 0x3E, 0])?.message == "the document is in UTF-16 or UTF-32")
    }

    @Test(arguments: [[0xE9], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80]] as [[UInt8]])
    func `bytes that are not UTF-8 are refused where they are`(bytes: [UInt8]) {
        let fault = fault(Array("<a>\nü ".utf8) + bytes + Array(" </a>".utf8))
        #expect(fault?.message == "the byte 0x\(String(bytes[0], radix: 16)) is not valid here")
        #expect(fault?.place == Place(line: 2, column: 4))
    }

    @Test func `a document that ends within a character is refused`() {
        #expect(fault(Array("<a>x".utf8) + [0xC3])?.message == "the document ends within a character")
    }

    @Test func `elements may be nested to the limit and not one deeper`() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)).utf8)
        }
        #expect(fault(nested(64)) == nil)
        #expect(fault(nested(65))?.message == "the nesting is deeper than 64 levels")
        #expect(fault(nested(65))?.place == Place(line: 1, column: 193))
        #expect(fault(nested(100_000))?.message == "the nesting is deeper than 64 levels")
        #expect(fault(nested(1000), depth: 1000) == nil)
        // An empty element beyond the limit, where libexpat reports start and end at once.
        #expect(fault(Array("<a><b/></a>".utf8), depth: 1)?.place == Place(line: 1, column: 4))
    }

    @Test func `a document may have as many bytes as the limit and not one more`() {
        #expect(fault(Array("<a/>".utf8), byteCount: 4) == nil)
        #expect(fault(Array("<a/>".utf8), byteCount: 3)?.message == "the document has 4 bytes; the limit is 3")
    }

    @Test func `no prefix of a document is accepted`() {
        let text = Array("<?xml version='1.0' encoding='UTF-8'?><a x='ü'><!-- c --><b>&lt;é<![CDATA[]]></b></a>".utf8)
        for count in 0..<text.count { #expect(fault(Array(text.prefix(count))) != nil, "\(count) bytes") }
        #expect(fault(text) == nil)
    }
}
