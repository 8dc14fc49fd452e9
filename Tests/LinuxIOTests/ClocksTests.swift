import LinuxIO
import Testing

struct ClocksTests {
    @Test func `the boot clock never goes back`() {
        let first = BootClock.nanoseconds()
        #expect(BootClock.nanoseconds() >= first)
        #expect(first > 0)
    }

    @Test func `an instant of the boot clock is where the standard clock has it`() {
        let instant = BootClock.instant(at: BootClock.nanoseconds() + 1_000_000_000)
        let distance = instant - .now
        #expect(distance > .milliseconds(900) && distance <= .milliseconds(1000))
    }

    @Test func `the wall clock is past 2025`() {
        #expect(WallClock.nanoseconds() > 1_735_689_600_000_000_000)
    }
}
