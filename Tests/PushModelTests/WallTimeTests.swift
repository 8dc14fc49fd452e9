import PushModel
import TestSupport
import Testing

struct WallTimeTests {
    @Test(arguments: [
        ("2026-11-22T06:00:00Z", Int64(1_795_327_200_000_000_000)),
        ("2026-11-22t06:00:00z", 1_795_327_200_000_000_000),
        ("2026-11-22 07:00:00.25+01:00", 1_795_327_200_250_000_000),
        ("2026-11-22T06:00:00.1234567891Z", 1_795_327_200_123_456_789),
        ("2026-11-21T23:30:00-06:30", 1_795_327_200_000_000_000),
        ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.5Z", -500_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000), ("2000-02-29T00:00:00Z", 951_782_400_000_000_000),
    ])
    func `a time of RFC 3339 is read to the nanosecond`(text: String, nanoseconds: Int64) {
        #expect(WallTime(rfc3339: text)?.nanoseconds == nanoseconds)
    }

    @Test(arguments: [
        "", "2026-11-22", "2026-11-22T06:00:00", "2026-11-22T06:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-22T24:00:00Z",
        "2026-11-22T06:60:00Z", "2026-11-22T06:00:61Z", "2026-11-22T06:00:00.Z", "2026-11-22T06:00:00+1:00",
        "2026-11-22T06:00:00+24:00", "2026-11-22T06:00:00Z ", " 2026-11-22T06:00:00Z", "+026-11-22T06:00:00Z",
        "2026-11-22T06:00:00,5Z", "２０２６-11-22T06:00:00Z",
    ])
    func `anything else is no time`(text: String) {
        #expect(WallTime(rfc3339: text) == nil)
    }

    @Test func `no two times are so far apart that their difference has the wrong sign`() {
        let times = [Int64.min, -1, 0, 1, .max].map { WallTime(nanoseconds: $0) }
        for left in times {
            for right in times {
                #expect((left - right < .zero) == (left < right) && (left - right > .zero) == (left > right))
                _ = [left.rfc3339, left.day, left.compact]
            }
            #expect(left + .seconds(Int64.max) >= left && left + .seconds(Int64.min) <= left)
        }
    }

    @Test func `what is written is read again, to the millisecond`() {
        for seed in UInt64(0)..<2_000 {
            var random = SeededGenerator(seed: seed)
            let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random) / 1_000
            let time = WallTime(nanoseconds: (milliseconds % 9_000_000_000) * 1_000_000)
            #expect(WallTime(rfc3339: time.rfc3339) == time, "seed \(seed)")
        }
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z", "19700101T000000.000000Z"),
        (1_795_250_176_123_456_789, "2026-11-21T08:36:16.123Z", "20261121T083616.123456Z"),
        (-1, "1969-12-31T23:59:59.999Z", "19691231T235959.999999Z"),
        (.max, "2262-04-11T23:47:16.854Z", "22620411T234716.854775Z"),
        (.min, "1677-09-21T00:12:43.145Z", "16770921T001243.145224Z"),
    ])
    func `a time is written in UTC`(nanoseconds: Int64, long: String, compact: String) {
        let time = WallTime(nanoseconds: nanoseconds)
        #expect(time.rfc3339 == long && time.compact == compact && time.day == String(long.prefix(10)))
    }

    @Test func `every time is spelled to the digit, in all forms`() {
        for seed in UInt64(0)..<2_000 {
            var random = SeededGenerator(seed: seed)
            let nanoseconds = Int64.random(in: Int64.min + 2_000_000_000...Int64.max, using: &random)
            let time = WallTime(nanoseconds: nanoseconds)
            #expect(WallTime(rfc3339: time.rfc3339) == rounded(nanoseconds, to: 1_000_000), "seed \(seed)")
            #expect(time.day == String(time.rfc3339.prefix(10)), "seed \(seed)")
            let (date, clock) = (time.compact.prefix(8), time.compact.dropFirst(9))
            let day = "\(date.prefix(4))-\(date.dropFirst(4).prefix(2))-\(date.suffix(2))"
            let minute = "\(clock.prefix(2)):\(clock.dropFirst(2).prefix(2))"
            let text = "\(day)T\(minute):\(clock.dropFirst(4))"
            #expect(WallTime(rfc3339: text) == rounded(nanoseconds, to: 1_000), "seed \(seed)")
        }
    }

    /// The last whole step before a time.
    private func rounded(_ nanoseconds: Int64, to step: Int64) -> WallTime {
        let rest = nanoseconds % step
        return WallTime(nanoseconds: nanoseconds - (rest < 0 ? rest + step : rest))
    }

    @Test(arguments: [Int64.min, -1, 0, 951_782_400_000_000_000, 1_795_250_176_123_456_789, .max])
    func `a time goes behind what is there`(nanoseconds: Int64) {
        let time = WallTime(nanoseconds: nanoseconds)
        #expect(spelled(time.appendRFC3339) == "before " + time.rfc3339)
        #expect(spelled(time.appendCompact) == "before " + time.compact)
        #expect(spelled(time.appendDay) == "before " + time.day)
    }

    @Test func `times beyond what can be told stay at the end`() {
        #expect(WallTime(epochSeconds: .max).nanoseconds == .max)
        #expect(WallTime(epochSeconds: .min).nanoseconds == .min)
        #expect((WallTime(nanoseconds: .max - 1) + .seconds(1)).nanoseconds == .max)
        #expect((WallTime(nanoseconds: .min + 1) + .seconds(-1)).nanoseconds == .min)
        #expect((WallTime(nanoseconds: 0) + .seconds(Int64.max)).nanoseconds == .max)
    }

    @Test func `seconds are rounded down before 1970 too`() {
        #expect(WallTime(nanoseconds: -1).epochSeconds == -1)
        #expect(WallTime(nanoseconds: 1_999_999_999).epochSeconds == 1)
    }
}

struct MomentTests {
    @Test(arguments: [
        (moment: 0, step: 15, rounded: 0),
        (moment: 14, step: 15, rounded: 0),
        (moment: 15, step: 15, rounded: 15),
        (moment: 44, step: 15, rounded: 30),
        (moment: 44, step: 0, rounded: 44),
    ])
    func `a moment is rounded down to a whole number of steps`(_ row: (moment: Int64, step: Int64, rounded: Int64)) {
        let moment = Moment(nanoseconds: row.moment).roundedDown(toMultipleOf: .nanoseconds(row.step))
        #expect(moment == Moment(nanoseconds: row.rounded))
    }

    @Test func `moments are told apart by durations`() {
        let moment = Moment.zero + .milliseconds(1_500)
        #expect(moment - .zero == .milliseconds(1_500))
        #expect(Moment.zero < moment)
    }

    @Test func `a pause without end ends with time`() {
        #expect((Moment(nanoseconds: 5) + .seconds(Int64.max)).nanoseconds == .max)
        #expect((Moment(nanoseconds: -5) + .seconds(Int64.min)).nanoseconds == .min)
    }
}
