import Glibc
import TestSupport
import Testing

@testable import LinuxIO

struct ReactorInboxTests {
    private let start = ContinuousClock.now

    /// Posts a request to a loop that sleeps for ten seconds or for ever, and says whether that woke it.
    private func wakes(_ deadline: Duration, asleepFor sleep: Duration?, on reactor: Reactor) throws -> Bool {
        let inbox = try ReactorInbox()
        let wasIdle = inbox.fallAsleep(until: sleep.map { start + $0 })
        #expect(wasIdle)
        let alarm = AlarmEntry(reactor) { _ in nil }
        let isTaken = inbox.post(.setAlarm(alarm, until: start + deadline))
        #expect(isTaken)
        var jobs: [UnownedJob] = []
        var requests: [ReactorInbox.Request] = []
        inbox.take(jobs: &jobs, requests: &requests)
        #expect(requests.count == 1, "it hears of it in any case")
        return isRung(inbox)
    }

    /// Whether the reactor's wakeup has been rung.
    private func isRung(_ inbox: ReactorInbox) -> Bool {
        var poll = pollfd(fd: inbox.wakeup.rawValue, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, 0) == 1
    }

    @Test func `an alarm wakes the reactor only if it would sleep for longer`() throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        #expect(try wakes(.seconds(5), asleepFor: .seconds(10), on: reactor))
        #expect(try !wakes(.seconds(10), asleepFor: .seconds(10), on: reactor))
        #expect(try !wakes(.seconds(15), asleepFor: .seconds(10), on: reactor))
        #expect(try wakes(.seconds(15), asleepFor: nil, on: reactor))
    }

    @Test func `a stop wakes a reactor that sleeps until an alarm`() throws {
        let inbox = try ReactorInbox()
        let wasIdle = inbox.fallAsleep(until: start + .seconds(10))
        #expect(wasIdle)
        inbox.post(.stop)
        #expect(isRung(inbox))
    }
}
