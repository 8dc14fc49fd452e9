package import Document

/// What a payload has in common with others that differ from it in nothing that a check of payloads looks at: all of its bytes
/// but those of texts and whole numbers.
///
/// Programs often send one form of message to many devices. Comparing costs a tenth of parsing and checking.
package struct PayloadPattern: Hashable, Sendable {
    /// A place where others may have something else.
    private struct Gap: Hashable {
        /// The bytes of the number, or those between the quotes of the text.
        let range: Range<Int>
        let isText: Bool
    }

    private var bytes: [UInt8]
    private var gaps: [Gap] = []

    /// Takes the pattern of a payload for Apple, a mapping on a tape of JSON.
    package init(of payload: Node) {
        let (tape, start) = (payload.tape, payload.rawRange.lowerBound)
        bytes = Array(payload.raw)
        for member in payload.members {
            guard member.key.isText("aps") else {
                addGaps(in: member.value.events, of: tape, start)
                continue
            }
            for member in member.value.members where APSKey(rawValue: member.key.text)?.type.isJudgedByValue != true {
                addGaps(in: member.value.events, of: tape, start)
            }
        }
    }

    private mutating func addGaps(in events: Range<Int>, of tape: Tape, _ start: Int) {
        for index in events {
            let event = tape.events[index]
            let range = event.rawRange.lowerBound - start..<event.rawRange.upperBound - start
            switch event.kind {
            case .string: gaps.append(Gap(range: range.lowerBound + 1..<range.upperBound - 1, isText: true))
            case .number: gaps.append(Gap(range: range, isText: false))
            case .mapping, .sequence, .key, .plain, .true, .false, .null: break
            }
        }
    }

    /// Whether a payload is JSON, and passes each check that this one has passed in an otherwise equal notification. `false` if
    /// that is unknown. A longer one may exceed a limit.
    package func fits(_ payload: Range<Int>, of source: [UInt8]) -> Bool {
        guard payload.count <= bytes.count else { return false }
        let (known, other) = (bytes.span, source.span.extracting(payload))
        if known.count == other.count, Self.isSame(known, 0..<known.count, other, at: 0) { return true }
        var (done, place) = (0, 0)
        for gap in gaps {
            guard Self.isSame(known, done..<gap.range.lowerBound, other, at: place) else { return false }
            place += gap.range.lowerBound - done
            guard let end = gap.isText ? Self.endOfText(other, from: place) : Self.endOfNumber(other, from: place)
            else { return false }
            (done, place) = (gap.range.upperBound, end)
        }
        return known.count - done == other.count - place && Self.isSame(known, done..<known.count, other, at: place)
    }

    private static func isSame(_ known: Span<UInt8>, _ range: Range<Int>, _ other: Span<UInt8>, at place: Int) -> Bool {
        guard range.count <= other.count - place else { return false }
        for index in range where known[index] != other[place + index - range.lowerBound] { return false }
        return true
    }

    /// Returns where the quote after a text is; `nil` if the text is no JSON, or has an escape of a surrogate.
    private static func endOfText(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var (place, isASCII) = (start, true)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                let isText = isASCII || (try? UTF8Span(validating: bytes.extracting(start..<place))) != nil
                return isText ? place : nil
            case UInt8(ascii: "\\"):
                guard let end = endOfEscape(bytes, from: place) else { return nil }
                place = end
            case 0x20..<0x80: place += 1
            case 0x80...: (place, isASCII) = (place + 1, false)
            default: return nil
            }
        }
        return nil
    }

    private static func endOfEscape(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        guard start + 1 < bytes.count else { return nil }
        switch bytes[start + 1] {
        case UInt8(ascii: "n"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "t"),
            UInt8(ascii: "r"), UInt8(ascii: "b"), UInt8(ascii: "f"):
            return start + 2
        case UInt8(ascii: "u"):
            guard start + 6 <= bytes.count, !isSurrogate(bytes[start + 2], bytes[start + 3]) else { return nil }
            for place in start + 2..<start + 6 where hexValue(bytes[place]) == nil { return nil }
            return start + 6
        default: return nil
        }
    }

    private static func isSurrogate(_ first: UInt8, _ second: UInt8) -> Bool {
        first | 0x20 == UInt8(ascii: "d") && second >= UInt8(ascii: "8")
    }

    /// Fewer than a number has that 64 bits cannot hold.
    private static let digitLimit = 18

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns where the digits of a whole number end; `nil` if there are none, or so many that the daemon's parser may refuse it.
    private static func endOfNumber(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var place = start
        while place < bytes.count, isDigit(bytes[place]) { place += 1 }
        guard (1...digitLimit).contains(place - start), bytes[start] != UInt8(ascii: "0") || place == start + 1 else {
            return nil
        }
        return place
    }
}

extension APSType {
    /// Whether a check of payloads looks at the value, and not only at its kind: flags decide what kind of push it is, and events
    /// which members it needs.
    fileprivate var isJudgedByValue: Bool {
        switch self {
        case .flag, .truth, .event: true
        case .string, .integer, .number, .object, .strings, .alert, .sound, .label, .stringOrNull, .stringsOrNull:
            false
        }
    }
}
