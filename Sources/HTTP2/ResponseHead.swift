/// The part of a response's header list that decides what becomes of the stream.
enum ResponseHead: Hashable, Sendable {
    /// 200 and above. `bodyByteCount` is what `content-length` promises.
    case final(status: Int, bodyByteCount: Int?)
    /// 1xx: the real one follows.
    case interim
    /// Not a response by RFC 9113 §8: a fault of the stream.
    case malformed

    private static let statusName = [UInt8](":status".utf8)
    private static let lengthName = [UInt8]("content-length".utf8)

    /// Judges the fields of `range`.
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
            // Looked at last, because it costs more to get at the word than to see that the name is shorter.
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

    /// Whether the fields of `range` may follow a body.
    static func areTrailers(_ fields: HeaderFields, in range: Range<Int>) -> Bool {
        range.allSatisfy { FieldRules.isValid(fields, at: $0) }
    }

    /// Three digits, and not 101, which HTTP/2 does not have (§8.6).
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
