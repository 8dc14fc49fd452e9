/// The part of a response's header list that determines how the stream continues.
enum ResponseHead: Hashable, Sendable {
    /// A status of 200 and above. `bodyByteCount` is the value of `content-length`.
    case final(status: Int, bodyByteCount: Int?)
    /// A 1xx response: the final one follows.
    case interim
    /// Not a valid response under RFC 9113 §8: a stream error.
    case malformed

    private static let statusName = [UInt8](":status".utf8)
    private static let lengthName = [UInt8]("content-length".utf8)

    /// Classifies the fields in `range`.
    init(_ fields: HeaderFields, in range: Range<Int>) {
        guard let first = range.first, let status = Self.status(fields, at: first) else {
            self = .malformed
            return
        }
        var promised: Int?
        for index in range.dropFirst() {
            guard FieldRules.isValid(fields, at: index) else {
                self = .malformed
                return
            }
            let name = fields.nameRange(at: index)
            // Compared last, because reaching the word costs more than comparing the length.
            guard name.count == 14, fields.bytes.span.extracting(name).holds(Self.lengthName) else { continue }
            let length = Self.number(fields.bytes.span.extracting(fields.valueRange(at: index)))
            guard let length, promised ?? length == length else {
                self = .malformed
                return
            }
            promised = length
        }
        self = status >= 200 ? .final(status: status, bodyByteCount: promised) : .interim
    }

    /// Whether the fields in `range` are valid trailers.
    static func areTrailers(_ fields: HeaderFields, in range: Range<Int>) -> Bool {
        range.allSatisfy { FieldRules.isValid(fields, at: $0) }
    }

    /// Returns a status of three digits, except 101, which HTTP/2 does not support (§8.6).
    private static func status(_ fields: HeaderFields, at index: Int) -> Int? {
        let bytes = fields.bytes.span
        let value = bytes.extracting(fields.valueRange(at: index))
        guard value.count == 3, bytes.extracting(fields.nameRange(at: index)).holds(statusName),
            let status = number(value), status >= 100, status != 101
        else { return nil }
        return status
    }

    private static func number(_ digits: Span<UInt8>) -> Int? {
        guard (1...18).contains(digits.count) else { return nil }
        var number = 0
        for place in digits.indices {
            let digit = digits[place] &- 0x30
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }
}
