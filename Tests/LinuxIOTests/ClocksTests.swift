import Testing

@testable import LinuxIO

struct ClocksTests {
    @Test func `the boot clock never goes back`() {
        let first = BootClock.nanoseconds()
        #expect(BootClock.nanoseconds() >= first)
        #expect(first > 0)
    }

    @Test func `an instant of the boot clock is where the standard clock has it`() {
        let before = ContinuousClock.now
        let instant = BootClock.instant(at: BootClock.nanoseconds() + 1_000_000_000)
        #expect(instant >= before + .seconds(1) && instant <= .now + .seconds(1))
    }

    @Test(
        arguments: [
            (0, 1, 1), (-1, 999_999_999, -1), (9_223_372_036, 854_775_807, .max), (9_223_372_036, 854_775_808, .max),
            (9_223_372_037, 0, .max), (253_402_300_799, 0, .max), (-9_223_372_037, 0, .min), (.max, 999_999_999, .max),
            (.min, 0, .min),
        ] as [(Int64, Int64, Int64)])
    func `a clock beyond what 64 bits hold stands still at the end`(seconds: Int64, more: Int64, nanoseconds: Int64) {
        #expect(Int64(clampingNanoseconds: seconds, more) == nanoseconds)
    }

    @Test(arguments: [Int64.min, 0, .max])
    func `no instant of the boot clock is too far away`(nanoseconds: Int64) {
        let distance = BootClock.instant(at: nanoseconds) - .now
        #expect((distance > .seconds(86_400 * 365)) == (nanoseconds == .max))
    }

    @Test func `the wall clock is past 2025`() {
        #expect(WallClock.nanoseconds() > 1_735_689_600_000_000_000)
    }
}
