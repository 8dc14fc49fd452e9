import DoorModel
import Testing

struct BearerTextTests {
    @Test(arguments: [
        "0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\n", "\u{FEFF}0123456789abcdef\r\n",
        " 0123456789abcdef \n\n",
    ])
    func `a token's file may be written by any editor`(content: String) {
        let token = BearerText.trimmed(Array(content.utf8))
        #expect(String(decoding: token, as: UTF8.self) == "0123456789abcdef" && BearerText.isValid(token))
    }

    @Test(arguments: ["", "\n", "\u{FEFF}\n", "two\nlines", "a b"])
    func `a file without a token, or with more, is none`(content: String) {
        #expect(!BearerText.isValid(BearerText.trimmed(Array(content.utf8))))
    }
}
