/// The core schema of YAML for plain scalars (YAML 1.2.2, section 10.3.2).
package enum CoreSchema {
    /// The meaning of a plain scalar.
    package enum Scalar: Sendable, Hashable {
        /// Empty, `~`, `null`, `Null` or `NULL`.
        case null
        /// `true` or `false`, in lower, upper or title case; `yes`, `no`, `on` and `off` are strings.
        case boolean(Bool)
        /// A whole number in JSON notation, digit for digit.
        case integer(String)
        /// A number with a fraction or an exponent in JSON notation, digit for digit.
        case float(String)
        /// A number that JSON cannot represent: an infinity, not-a-number, or a hexadecimal or octal number beyond 64 bits.
        case unwritable
        /// Anything else: the text itself.
        case string
    }

    /// Interprets a plain scalar.
    package static func resolve(_ text: ArraySlice<UInt8>) -> Scalar {
        guard let first = text.first else { return .null }
        switch first {
        case UInt8(ascii: "~"), UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "t"), UInt8(ascii: "T"),
            UInt8(ascii: "f"), UInt8(ascii: "F"):
            return word(text)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            return number(text)
        default:
            return .string
        }
    }

    private static func word(_ text: ArraySlice<UInt8>) -> Scalar {
        guard text.count <= 5 else { return .string }
        switch String(decoding: text, as: UTF8.self) {
        case "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .boolean(true)
        case "false", "False", "FALSE": return .boolean(false)
        default: return .string
        }
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Scalar {
        if text.count > 2, text.first == UInt8(ascii: "0") {
            let digits = text.dropFirst(2)
            switch text[text.startIndex + 1] {
            case UInt8(ascii: "x"): return based(digits, radix: 16)
            case UInt8(ascii: "o"): return based(digits, radix: 8)
            default: break
            }
        }
        let isSigned = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+")
        let magnitude = isSigned ? text.dropFirst() : text
        if let special = special(magnitude, isSigned: isSigned) { return special }
        guard let parts = DecimalParts(magnitude) else { return .string }
        let sign = text.first == UInt8(ascii: "-") ? "-" : ""
        return parts.isInteger ? .integer(parts.json(sign: sign)) : .float(parts.json(sign: sign))
    }

    private static func special(_ magnitude: ArraySlice<UInt8>, isSigned: Bool) -> Scalar? {
        guard magnitude.first == UInt8(ascii: "."), magnitude.count == 4 else { return nil }
        switch String(decoding: magnitude, as: UTF8.self) {
        case ".inf", ".Inf", ".INF": return .unwritable
        case ".nan", ".NaN", ".NAN": return isSigned ? .string : .unwritable
        default: return nil
        }
    }

    private static func based(_ digits: ArraySlice<UInt8>, radix: UInt64) -> Scalar {
        var value: UInt64 = 0
        var isTooLarge = false
        for byte in digits {
            guard let digit = hexadecimalDigit(byte), digit < radix else { return .string }
            let (product, overflow) = value.multipliedReportingOverflow(by: radix)
            isTooLarge = isTooLarge || overflow
            value = product | digit
        }
        return isTooLarge ? .unwritable : .integer(String(value))
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
