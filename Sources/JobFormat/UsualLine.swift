/// The lines that most recipients have: a token alone, `"b10c…"`, or a mapping of nothing else, `{"token":"b10c…"}`. They are
/// recognized without a parser.
enum UsualLine {
    /// Finds the text between the quotes.
    ///
    /// - Parameters:
    ///   - line: A line, without its line feed.
    ///   - bytes: What has the line in it.
    /// - Returns: Where the text is; `nil` for a line of another form. The line is JSON, and the text its value, unless the text
    ///   has a quote, a backslash, a control character or malformed UTF-8 in it: the caller takes no text that has one.
    static func text(in line: Range<Int>, of bytes: Span<UInt8>) -> Range<Int>? {
        var end = line.upperBound
        if end > line.lowerBound, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        guard end - line.lowerBound > 2 else { return nil }
        if bytes[line.lowerBound] == quote {
            return bytes[end - 1] == quote ? line.lowerBound + 1..<end - 1 : nil
        }
        guard end - line.lowerBound > 12, bytes[end - 1] == UInt8(ascii: "}"), bytes[end - 2] == quote else {
            return nil
        }
        for offset in 0..<9 where bytes[line.lowerBound + offset] != opening[offset] { return nil }
        let start = line.lowerBound + (bytes[line.lowerBound + 9] == UInt8(ascii: " ") ? 10 : 9)
        return bytes[start] == quote && start + 1 < end - 2 ? start + 1..<end - 2 : nil
    }

    private static let quote = UInt8(ascii: "\"")
    /// `{"token":`
    private static let opening: InlineArray<9, UInt8> = [0x7B, 0x22, 0x74, 0x6F, 0x6B, 0x65, 0x6E, 0x22, 0x3A]
}
