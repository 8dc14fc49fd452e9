import Document
import TestSupport
import Testing

struct Base64Tests {
    private func text(_ bytes: [UInt8], _ base64: Base64) -> String {
        var text: [UInt8] = []
        base64.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the examples of the RFC`(bytes: String, expected: String) {
        #expect(text(Array(bytes.utf8), .standard) == expected)
        #expect(Base64.standard.decode(Array(expected.utf8)[...]) == Array(bytes.utf8))
        let bare = String(expected.prefix { $0 != "=" })
        #expect(text(Array(bytes.utf8), .url) == bare)
        #expect(Base64.url.decode(Array(bare.utf8)[...]) == Array(bytes.utf8))
    }

    @Test func `each alphabet has its own two last digits`() {
        #expect(text([0xFB, 0xFF], .standard) == "+/8=" && text([0xFB, 0xFF], .url) == "-_8")
        #expect(Base64.standard.decode(Array("-_8=".utf8)[...]) == nil)
        #expect(Base64.url.decode(Array("+/8".utf8)[...]) == nil)
    }

    @Test(arguments: ["A", "AA", "AAA", "AAAAA", "A===", "AA=A", "=AAA", "AA A", "AAA\u{E9}", "===="])
    func `what is not whole or has other signs is not decoded`(text: String) {
        #expect(Base64.standard.decode(Array(text.utf8)[...]) == nil)
    }

    @Test func `any bytes are decoded to themselves`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let count = Int.random(in: 0..<80, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            for base64 in [Base64.standard, .url] {
                #expect(base64.decode(Array(text(bytes, base64).utf8)[...]) == bytes)
            }
        }
    }
}

struct FNV1aTests {
    /// The test vectors of draft-eastlake-fnv.
    @Test(arguments: [
        ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8 as UInt64),
    ])
    func `known hashes`(text: String, value: UInt64) {
        #expect(FNV1a(text.utf8.span).value == value)
        let cut = min(2, text.utf8.count)
        var pieces = FNV1a(text.utf8.span.extracting(..<cut))
        pieces.add(text.utf8.span.extracting(cut...))
        #expect(pieces.value == value)
    }
}
