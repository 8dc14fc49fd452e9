import Glibc
import LinuxIO
import TestSupport
import Testing

struct WaiterTests {
    @Test func `a wait ends at its deadline`() async throws {
        let found = try await onReactor { reactor in
            await Waiter(on: reactor).wait(until: .now + .milliseconds(5))
        }
        #expect(found == .timedOut)
    }

    @Test func `a wake before the wait is not lost, and counts once`() async throws {
        let found = try await onReactor { reactor in
            let waiter = Waiter(on: reactor)
            waiter.wake()
            waiter.wake()
            return [await waiter.wait(), await waiter.wait(until: .now + .milliseconds(5))]
        }
        #expect(found == [.woken, .timedOut])
    }

    @Test func `another thread's wake ends a wait`() async throws {
        let found = try await onReactor { reactor in
            let waiter = Waiter(on: reactor)
            let waker = waiter.waker
            async let wake: Void = Task.detached { waker.wake() }.value
            let found = await waiter.wait()
            await wake
            return found
        }
        #expect(found == .woken)
    }

    @Test func `a waker outlives its waiter`() async throws {
        try await onReactor { reactor in
            let waker = Waiter(on: reactor).waker
            waker.wake()
            try await reactor.sleep(for: .milliseconds(1))
        }
    }

    @Test func `cancelling ends a wait`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let waiting = Task {
            try await ReactorHost(reactor).run { reactor in await Waiter(on: reactor).wait() }
        }
        waiting.cancel()
        #expect(try await waiting.value == .cancelled)
    }

    @Test func `a wait to the end does not heed cancellation`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let waiting = Task {
            try await ReactorHost(reactor).run { reactor in
                await Waiter(on: reactor).waitToTheEnd(for: [], until: .now + .milliseconds(5))
            }
        }
        waiting.cancel()
        #expect(try await waiting.value == .timedOut)
    }

    @Test func `a task that is always ready lets others run`() async throws {
        try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            async let other: Void = ReactorHost(reactor).run { _ in }
            // Writable all the time: without its turn, the other task would never finish.
            var isDone = false
            for _ in 0..<1000 where !isDone {
                isDone = await pair.one.waiter.wait(for: .writable) != .writable
            }
            try await other
        }
    }

    @Test func `a task that yields lets one go first whose descriptor has become ready`() async throws {
        try await onReactor { reactor in
            let ends = try Self.socketPair()
            let socket = try StreamSocket(adopting: Descriptor(adopting: ends.one), on: reactor)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            async let answer: Void = ReactorHost(reactor).run { reactor in
                let socket = try StreamSocket(adopting: Descriptor(adopting: ends.other), on: reactor)
                begin.finish()
                _ = await socket.waiter.wait(for: .readable)
                try await socket.writeAll([2])
            }
            for await _ in begun {}
            try await socket.writeAll([1])
            await socket.waiter.yield()
            var buffer: [UInt8] = [0]
            let read = try socket.read(into: &buffer)
            #expect(read == .bytes(1), "the other one has had its turn")
            try await answer
        }
    }

    @Test func `waiting changes no thread`() async throws {
        let switches = try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            var buffer: [UInt8] = [0, 0]
            let before = Self.voluntarySwitches()
            for _ in 0..<1000 {
                _ = try pair.other.write([1].span)
                _ = await pair.one.waiter.wait(for: .readable)
                _ = try pair.one.read(into: &buffer)
            }
            return Self.voluntarySwitches() - before
        }
        #expect(switches < 100)
    }

    @Test func `a stopped reactor ends waits`() async throws {
        let reactor = try Reactor()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let found = ReactorHost(reactor).run { reactor in
            begin.finish()
            return await Waiter(on: reactor).wait()
        }
        for await _ in begun {}
        reactor.stop()
        #expect(try await found == .cancelled)
    }

    /// Two connected sockets, for tasks that share no actor.
    private static func socketPair() throws -> (one: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        let code = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(code == 0)
        return (ends[0], ends[1])
    }

    /// How often the calling thread has given up its processor to wait.
    private static func voluntarySwitches() -> Int {
        var usage = rusage()
        unsafe getrusage(thisThread, &usage)
        return usage.ru_nvcsw
    }

    /// RUSAGE_THREAD, which Swift's Glibc module hides.
    private static let thisThread: Int32 = 1
}
