/// The JSON form of `google.protobuf.Timestamp`: RFC 3339 with `T` and at most nine decimals.
enum WireTimestamp {
    /// The form, with a digit for each `0`; fraction and offset follow.
    private static let form = Array("0000-00-00T00:00:00".utf8)

    /// Whether a text has the form. Days and hours out of range are left to FCM.
    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count > form.count, matches(text.prefix(form.count), form) else { return false }
        var rest = text.dropFirst(form.count)
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: isDigit)
            guard (1...9).contains(digits.count) else { return false }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard rest.first != UInt8(ascii: "Z") else { return rest.count == 1 }
        return matches(rest, Array("+00:00".utf8)) || matches(rest, Array("-00:00".utf8))
    }

    private static func matches(_ text: ArraySlice<UInt8>, _ form: [UInt8]) -> Bool {
        text.count == form.count
            && zip(text, form).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
