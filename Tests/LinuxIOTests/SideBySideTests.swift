import Glibc
import Synchronization
import Testing

@testable import LinuxIO

@Suite struct SideBySideTests {
    @Test(arguments: [0, 1, 7, 8, 9, 200]) func `results come in the order of the inputs`(count: Int) {
        let inputs = Array(0..<count)
        #expect(SideBySide.map(inputs) { $0 * 2 } == inputs.map { $0 * 2 })
    }

    /// Each call waits until eight have begun.
    @Test(.timeLimit(.minutes(10))) func `eight calls are made at a time, on threads of their own`() {
        let begun = Atomic(0)
        let threads = SideBySide.map(Array(0..<8)) { _ in
            begun.add(1, ordering: .sequentiallyConsistent)
            while begun.load(ordering: .sequentiallyConsistent) < 8 { sched_yield() }
            return pthread_self()
        }
        #expect(Set(threads).count == 8 && threads.contains(pthread_self()))
    }

    @Test func `an input is released where it was used, before the results are there`() {
        let released = Released()
        _ = SideBySide.map((0..<20).map { number in Owner(number, released) }) { _ in }
        #expect(released.numbers.withLock { $0 } == Set(0..<20))
    }
}

private final class Released: Sendable {
    let numbers = Mutex<Set<Int>>([])
}

private final class Owner: Sendable {
    private let (number, released): (Int, Released)

    init(_ number: Int, _ released: Released) {
        (self.number, self.released) = (number, released)
    }

    deinit {
        released.numbers.withLock { _ = $0.insert(number) }
    }
}
