import Document
import Testing

@Suite struct ControlCharacterTests {
    @Test(arguments: [
        "\u{1B}", "\n", "\u{7F}", "\u{80}", "\u{9B}", "\u{61C}", "\u{200F}", "\u{2028}", "\u{202E}", "\u{2066}",
    ])
    func `what a terminal would obey, and what turns text around, is marked`(text: String) {
        #expect(text.hasControls)
        #expect("a\(text)b".withoutControls == "a\u{FFFD}b")
    }

    @Test(arguments: ["", "a b%", "é", "\u{A0}", "\u{1F600}", "\u{2027}"])
    func `all other text stays as it is`(text: String) {
        #expect(!text.hasControls && text.withoutControls == text)
    }
}
