import APNSModel
import FCMModel
import JobFormat
import PushModel

/// Tokens as text, the same ones over and over: device tokens of 64 hexadecimal digits, or registration tokens of 163 characters.
struct TokenTexts {
    private static let count = 1_024

    private let transport: Transport
    private let byteCount: Int
    private let text: [UInt8]

    init(_ transport: Transport) {
        self.transport = transport
        byteCount = transport == .fcm ? 163 : 64
        let digits = Array("0123456789abcdef".utf8)
        var state: UInt32 = 1
        text = (0..<Self.count * byteCount).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return digits[Int(state >> 28)]
        }
    }

    /// Reads the first `count` tokens, at most 1,024, in the way in which job files are read.
    func read(_ count: Int) throws -> PackedBytes {
        var tokens = PackedBytes(reservingByteCount: count * byteCount)
        for index in 0..<min(count, Self.count) {
            let spelling = text.span.extracting(index * byteCount..<(index + 1) * byteCount)
            if transport == .fcm {
                if let fault = AddressRule.registrationToken.fault(of: spelling) { throw fault }
                tokens.append(text[index * byteCount..<(index + 1) * byteCount])
            } else if let fault = tokens.append(token: spelling) {
                throw fault
            }
        }
        return tokens
    }
}
