package import APNSModel
package import PushModel

extension PackedBytes {
    /// Parses a device token and appends its bytes as one string.
    ///
    /// - Returns: The fault of the spelling, in which case nothing was appended.
    package mutating func append(token spelling: Span<UInt8>) -> TokenSpelling.Fault? {
        var fault: TokenSpelling.Fault?
        append { bytes in
            if case .failure(let found) = TokenSpelling.append(spelling, to: &bytes) { fault = found }
            return fault == nil
        }
        return fault
    }

    /// Appends the bytes of a device token as one string if it is spelled with exactly 64 hexadecimal digits.
    ///
    /// - Returns: Whether it is.
    mutating func append(digits text: Span<UInt8>) -> Bool {
        var isUsual = false
        append { bytes in
            isUsual = TokenSpelling.appendUsualDigits(text, to: &bytes)
            return isUsual
        }
        return isUsual
    }
}
