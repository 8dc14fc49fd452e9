import APNSModel
import JobFormat
import PushModel

/// Device tokens as text, 64 hexadecimal digits each; the same ones over and over.
struct TokenTexts {
    private static let count = 1_024
    private static let byteCount = 64

    private let text: [UInt8]

    init() {
        let digits = Array("0123456789abcdef".utf8)
        var state: UInt32 = 1
        text = (0..<Self.count * Self.byteCount).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return digits[Int(state >> 28)]
        }
    }

    /// Decodes the first `count` tokens, at most 1,024, in the way in which job files are read.
    func decode(_ count: Int) throws(TokenSpelling.Fault) -> PackedBytes {
        var tokens = PackedBytes(reservingByteCount: count * Self.byteCount / 2)
        for index in 0..<min(count, Self.count) {
            let spelling = text.span.extracting(index * Self.byteCount..<(index + 1) * Self.byteCount)
            if let fault = tokens.append(token: spelling) { throw fault }
        }
        return tokens
    }
}
