import Dispatch
import Synchronization

/// Makes many blocking calls at a time, for filesystems on which each waits for a server.
package enum SideBySide {
    /// The most calls at a time.
    private static let limit = 8

    /// Calls `call` with each input, on this thread and up to seven others. Blocks until the last call has ended.
    ///
    /// Each input is released where it was used, unless the caller keeps it: a file is closed there.
    ///
    /// - Parameters:
    ///   - inputs: The inputs.
    ///   - call: The call.
    /// - Returns: The results, in the order of the inputs.
    package static func map<Input: Sendable, Output: Sendable>(
        _ inputs: consuming [Input], _ call: @escaping @Sendable (Input) -> Output
    ) -> [Output] {
        let others = 1..<max(1, min(limit, inputs.count))
        let calls = Calls<Input, Output>(inputs)
        // Where the process or the host has no thread left, this one makes all calls.
        let callers = others.compactMap { _ in try? Caller.begin { calls.make(call) } }
        calls.make(call)
        for caller in callers { caller.finish() }
        return calls.results
    }
}

/// A thread that makes calls. It is kept for the next ones, because seven new ones cost as much as calls to a near server.
private final class Caller: Sendable {
    private static let idle = Mutex<[Caller]>([])

    private let work = Mutex<(@Sendable () -> Void)?>(nil)
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    private init() throws(SystemError) {
        try SystemThread.start(name: "calls") { [self] in serve() }.detach()
    }

    /// Lets an idle thread, or a new one, do this work.
    static func begin(_ work: @escaping @Sendable () -> Void) throws(SystemError) -> Caller {
        let caller = if let idle = idle.withLock({ $0.popLast() }) { idle } else { try Caller() }
        caller.work.withLock { $0 = work }
        caller.begun.signal()
        return caller
    }

    /// Waits until the work is done, and keeps the thread for other work. Call it once.
    func finish() {
        ended.wait()
        Self.idle.withLock { $0.append(self) }
    }

    private func serve() {
        while true {
            begun.wait()
            work.withLock { $0.take() }?()
            ended.signal()
        }
    }
}

/// Calls to be made by several threads.
private final class Calls<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        var inputs: [Input?]
        var results: [Output?]
        var next = 0
    }

    private let state: Mutex<State>

    init(_ inputs: consuming [Input]) {
        let count = inputs.count
        state = Mutex(State(inputs: inputs.map(Optional.some), results: Array(repeating: nil, count: count)))
    }

    /// Makes one call after the other until all have begun.
    func make(_ call: (Input) -> Output) {
        while let (index, input) = take() {
            let result = call(input)
            state.withLock { $0.results[index] = result }
        }
    }

    private func take() -> (Int, Input)? {
        state.withLock { state in
            guard state.next < state.inputs.count, let input = state.inputs[state.next].take() else { return nil }
            defer { state.next += 1 }
            return (state.next, input)
        }
    }

    /// The results, once all calls have been made.
    var results: [Output] { state.withLock { $0.results.compactMap(\.self) } }
}
