import Foundation
import Synchronization
import Testing

@testable import LinuxIO

@Suite struct SideBySideTests {
    @Test(arguments: [0, 1, 7, 8, 9, 200]) func `results come in the order of the inputs`(count: Int) {
        let inputs = Array(0..<count)
        #expect(SideBySide.map(inputs) { $0 * 2 } == inputs.map { $0 * 2 })
    }

    @Test(.timeLimit(.minutes(10))) func `eight calls are made at a time, on threads of their own`() {
        let threads = Self.map { pthread_self() }
        #expect(Set(threads).count == 8 && threads.contains(pthread_self()))
    }

    /// Without that each map would have seven more.
    @Test(.timeLimit(.minutes(10))) func `threads are kept from one map to the next, for two at a time`() async {
        async let one = Task.detached { Self.threads(ofMaps: 100) }.value
        async let other = Task.detached { Self.threads(ofMaps: 100) }.value
        for threads in await [one, other] {
            #expect(threads.count >= 8 && threads.count < 350 && !threads.contains(nil), "\(threads.count)")
        }
    }

    /// The kernel's names of the threads of so many maps.
    private static func threads(ofMaps count: Int) -> Set<String?> {
        (0..<count).reduce(into: []) { all, _ in
            all.formUnion(map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self") })
        }
    }

    /// Makes eight calls, each of which waits until all have begun.
    private static func map<Output: Sendable>(_ call: @escaping @Sendable () -> Output) -> [Output] {
        let begun = Atomic(0)
        return SideBySide.map(Array(0..<8)) { _ in
            begun.add(1, ordering: .sequentiallyConsistent)
            while begun.load(ordering: .sequentiallyConsistent) < 8 { sched_yield() }
            return call()
        }
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
