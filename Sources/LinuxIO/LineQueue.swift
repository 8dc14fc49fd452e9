import CLinux
import Glibc

/// Lines for a stream, written in order by a thread of their own, so that a reader that stops reading delays no one else.
///
/// Lines that find no room are dropped, and a line that tells their number takes their place. Has no descriptor: it can
/// start before the descriptors are counted.
///
/// Unchecked because `state` is only used with `mutex` locked.
@safe package final class LineQueue: @unchecked Sendable {
    /// Lines that are written in one step, or the notice that stands for lost lines.
    private struct Entry {
        var bytes: [UInt8]
        /// How many lines these are; 0 for a notice.
        var lineCount = 0
        /// How many lines a notice stands for.
        var lostCount = 0
    }

    /// How many bytes of lines are written in one step. A pipe takes so many at once or not at all (PIPE_BUF).
    private static let stepByteCount = 4_096
    /// How many milliseconds the thread rests after a write, so that lines gather and do not wake it one by one.
    private static let rest: Int32 = 2

    private struct State {
        var entries: [Entry] = []
        /// The bytes of the lines that are not written yet.
        var byteCount = 0
        /// Lines lost since the last notice, and since the start.
        var (lostCount, allLostCount) = (0, 0)
        /// Whether the last write failed. The next notice then waits for another line, instead of failing again at once.
        var isBroken = false

        /// Adds a line to those of the last step, if there is room, or begins another step.
        mutating func append(_ line: [UInt8]) {
            let last = entries.count - 1
            if last >= 0, entries[last].lineCount > 0, entries[last].bytes.count + line.count <= LineQueue.stepByteCount
            {
                entries[last].bytes += line
                entries[last].lineCount += 1
            } else {
                entries.append(Entry(bytes: line, lineCount: 1))
            }
        }
    }

    private let byteLimit: Int
    private let write: @Sendable ([UInt8]) throws(SystemError) -> Void
    private let notice: @Sendable (Int) -> [UInt8]
    private var state = State()
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Signalled when there is a line to write, and when all are written.
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Creates a queue, and starts its thread, which lives as long as the process.
    ///
    /// - Parameters:
    ///   - byteLimit: the most bytes that wait.
    ///   - write: called on the thread, for one or more whole lines.
    ///   - notice: returns the line that tells how many lines were lost.
    /// - Throws: `SystemError` (EAGAIN): no thread left.
    package init(
        byteLimit: Int = 1 << 20, to write: @escaping @Sendable ([UInt8]) throws(SystemError) -> Void,
        notice: @escaping @Sendable (Int) -> [UInt8]
    ) throws(SystemError) {
        (self.byteLimit, self.write, self.notice) = (byteLimit, write, notice)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(change, &attributes)
        try SystemThread.start(name: "log") { [self] in serve() }.detach()
    }

    deinit {
        unsafe pthread_cond_destroy(change)
        unsafe pthread_mutex_destroy(mutex)
        unsafe change.deallocate()
        unsafe mutex.deallocate()
    }

    /// How many lines were lost since the start, because they found no room or could not be written.
    package var lostCount: Int { locked { state.allLostCount } }

    /// Adds a line, with its newline. Never waits for the reader.
    package func add(_ line: [UInt8]) {
        locked {
            let notice = takeNotice()
            let byteCount = line.count + (notice?.bytes.count ?? 0)
            guard state.byteCount + byteCount <= byteLimit else {
                state.lostCount += 1 + (notice?.lostCount ?? 0)
                state.allLostCount += 1
                return
            }
            if let notice { state.entries.append(notice) }
            state.append(line)
            state.byteCount += byteCount
            unsafe pthread_cond_broadcast(change)
        }
    }

    /// Waits until all lines are written, for at most `limit`.
    package func flush(within limit: Duration) {
        let (seconds, nanoseconds) = (MonotonicClock.nanoseconds() + Int64(limit / .nanoseconds(1)))
            .quotientAndRemainder(dividingBy: 1_000_000_000)
        var deadline = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
        locked {
            while state.byteCount > 0, unsafe pthread_cond_timedwait(change, mutex, &deadline) == 0 {}
        }
    }

    private func serve() {
        // A write to a pipe that nobody reads any more must fail with EPIPE, not end the process (SIGPIPE).
        _ = try? BlockedSignals([])
        while true {
            for entry in take() { writeOut(entry) }
            _ = poll(nil, 0, Self.rest)
        }
    }

    /// Waits for lines, and takes all of them.
    private func take() -> [Entry] {
        locked {
            while state.entries.isEmpty {
                if !state.isBroken, let notice = takeNotice() {
                    (state.entries, state.byteCount) = ([notice], notice.bytes.count)
                }
                if state.entries.isEmpty { unsafe pthread_cond_wait(change, mutex) }
            }
            defer { state.entries = [] }
            return state.entries
        }
    }

    private func writeOut(_ entry: Entry) {
        var isBroken = false
        do throws(SystemError) {
            try write(entry.bytes)
        } catch {
            isBroken = true
        }
        locked {
            state.byteCount -= entry.bytes.count
            state.isBroken = isBroken
            if isBroken {
                // The lines that a notice stands for are already counted.
                state.allLostCount += entry.lineCount
                state.lostCount += entry.lineCount + entry.lostCount
            }
            if state.byteCount == 0 { unsafe pthread_cond_broadcast(change) }
        }
    }

    /// Returns the notice of the lines lost since the last one, if there are any. Call it with `mutex` locked.
    private func takeNotice() -> Entry? {
        guard state.lostCount > 0 else { return nil }
        defer { state.lostCount = 0 }
        return Entry(bytes: notice(state.lostCount), lostCount: state.lostCount)
    }

    /// Runs `body` with `mutex` locked.
    private func locked<Value>(_ body: () -> Value) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }
}
