import Document
package import PushModel

extension RequestFields {
    /// Writes a device token as hexadecimal digits and an `apns-id` into a request. Allocates nothing.
    ///
    /// Loops over fixed counts after all bounds checks, so that the compiler can vectorize. The preconditions are
    /// written for that; equivalent forms take three times as long.
    ///
    /// - Parameters:
    ///   - token: The token's bytes.
    ///   - id: The notification's id.
    ///   - output: The bytes of one request or of many. Traps if a hole is out of bounds.
    ///   - holes: The start offsets of token and id.
    @inline(__always)
    package static func fill(
        _ token: Span<UInt8>, _ id: NotificationID, into output: inout MutableSpan<UInt8>,
        at holes: (token: Int, id: Int)
    ) {
        if token.count == usualTokenByteCount {
            fillUsual(token, into: &output, at: holes.token)
        } else {
            for index in token.indices {
                output[holes.token + 2 * index] = hexDigit(token[index] >> 4)
                output[holes.token + 2 * index + 1] = hexDigit(token[index] & 15)
            }
        }
        fill(id, into: &output, at: holes.id)
    }

    /// The length of nearly all tokens.
    private static let usualTokenByteCount = 32

    private static func fillUsual(_ token: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int) {
        precondition(token.count == 32)
        precondition(UInt(bitPattern: start) <= UInt(bitPattern: output.count) && output.count - start >= 64)
        var digits = InlineArray<64, UInt8>(repeating: 0)
        for index in 0..<32 {
            let (high, low) = (token[index] >> 4, token[index] & 15)
            digits[2 * index] = high &+ (high < 10 ? 0x30 : 0x57)
            digits[2 * index + 1] = low &+ (low < 10 ? 0x30 : 0x57)
        }
        for index in 0..<64 { output[start &+ index] = digits[index] }
    }

    /// Writes hexadecimal digits in groups of 8-4-4-4-12.
    private static func fill(_ id: NotificationID, into output: inout MutableSpan<UInt8>, at start: Int) {
        precondition(start >= 0 && start <= output.count - 36)
        let high = UInt64(truncatingIfNeeded: id.bits >> 64).byteSwapped
        let low = UInt64(truncatingIfNeeded: id.bits).byteSwapped
        var bytes = InlineArray<16, UInt8>(repeating: 0)
        for index in 0..<8 {
            bytes[index] = UInt8(truncatingIfNeeded: high >> UInt64(8 * index))
            bytes[8 + index] = UInt8(truncatingIfNeeded: low >> UInt64(8 * index))
        }
        var digits = InlineArray<32, UInt8>(repeating: 0)
        for index in 0..<16 {
            let (high, low) = (bytes[index] >> 4, bytes[index] & 15)
            digits[2 * index] = high &+ (high < 10 ? 0x30 : 0x57)
            digits[2 * index + 1] = low &+ (low < 10 ? 0x30 : 0x57)
        }
        for index in 0..<8 { output[start &+ index] = digits[index] }
        output[start &+ 8] = UInt8(ascii: "-")
        for index in 0..<4 { output[start &+ 9 &+ index] = digits[8 + index] }
        output[start &+ 13] = UInt8(ascii: "-")
        for index in 0..<4 { output[start &+ 14 &+ index] = digits[12 + index] }
        output[start &+ 18] = UInt8(ascii: "-")
        for index in 0..<4 { output[start &+ 19 &+ index] = digits[16 + index] }
        output[start &+ 23] = UInt8(ascii: "-")
        for index in 0..<12 { output[start &+ 24 &+ index] = digits[20 + index] }
    }
}
