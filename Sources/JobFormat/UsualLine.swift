import PushModel

/// The form of lines with nothing but an address, such as `"b10c…"` or `{"token": "b10c…"}`: the bytes around it.
///
/// It is taken from a line that was parsed. A line with the same bytes around another address, which has neither quotes nor
/// backslashes, means the same but for the address, and needs no parser.
struct UsualLine {
    private let opening: [UInt8]
    /// The bytes from the quote behind the address to the line feed, both included.
    private let closing: [UInt8]
    /// The length of the last address, which the next one probably has, too.
    private var addressByteCount: Int

    /// Takes the form of a line, without its line feed, with an address that is spelled without escapes.
    init(_ line: Range<Int>, address: Range<Int>, of bytes: [UInt8]) {
        opening = Array(bytes[line.lowerBound..<address.lowerBound])
        closing = bytes[address.upperBound..<line.upperBound] + [UInt8(ascii: "\n")]
        addressByteCount = address.count
    }

    /// Finds the address in the next line.
    ///
    /// - Parameters:
    ///   - unread: Where the line may be; it begins at the start.
    ///   - bytes: What has the line in it.
    /// - Returns: Where the address is, and where the next line begins; `nil` if the line has another form or is not
    ///   complete. The address may be anything: the caller takes none with a quote, a backslash, a control character or
    ///   malformed UTF-8 in it.
    mutating func next(in unread: Range<Int>, of bytes: Span<UInt8>) -> (address: Range<Int>, end: Int)? {
        let start = unread.lowerBound + opening.count
        guard start < unread.upperBound, stands(opening, at: unread.lowerBound, in: unread, of: bytes) else {
            return nil
        }
        if !stands(closing, at: start + addressByteCount, in: unread, of: bytes) {
            guard let end = bytes.firstOffset(of: closing[0], in: start..<unread.upperBound),
                stands(closing, at: end, in: unread, of: bytes)
            else { return nil }
            addressByteCount = end - start
        }
        let end = start + addressByteCount
        return (start..<end, end + closing.count)
    }

    private func stands(_ text: [UInt8], at place: Int, in unread: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        guard place + text.count <= unread.upperBound else { return false }
        for index in text.indices where bytes[place + index] != text[index] { return false }
        return true
    }
}
