import LinuxIO
import Testing

struct ClockKeepingTests {
    @Test func `what keeps the time is told, and an error is no less than nothing`() {
        switch ClockKeeping.now() {
        case .kept(let error): #expect(error >= .zero)
        case .unkept, .unknown: #expect(ClockKeeping.now() != .kept(within: .zero))
        }
    }
}
