import CLinux
import Glibc
import Synchronization

/// The output of child processes, line by line: a pipe to pass to `ChildProcess.start`, and its reader on a reactor.
package actor ChildOutput {
    /// How many bytes of a line are kept; the remainder is skipped.
    package static let lineLimit = 1_000

    private let reactor: Reactor
    /// The read end, until `lines` takes it over.
    private var reading: Descriptor?
    /// The write end, until `closeWriting`.
    private nonisolated let writing: Mutex<Descriptor?>
    private var waiter: Waiter?
    private var isOver = false
    private var line: [UInt8] = []
    private var isCut = false

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Opens the pipe.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(on reactor: Reactor) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe clinux_pipe(&ends) == 0 else { throw .last("pipe2", "") }
        let reading = Descriptor(adopting: ends[0])
        let writing = Descriptor(adopting: ends[1])
        // Only the read end is non-blocking: child processes may not expect a non-blocking write end.
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else { throw .last("fcntl", "F_SETFL") }
        self.reactor = reactor
        self.reading = consume reading
        self.writing = Mutex(consume writing)
    }

    /// The number of the write end.
    nonisolated var writingNumber: Int32? { writing.withLock { $0?.rawValue } }

    /// Closes this process's copy of the write end. Call it after starting the last child that gets the pipe.
    nonisolated func closeWriting() {
        writing.withLock { $0 = nil }
    }

    /// Hands over each line as it is printed, without its newline and decoded as UTF-8, until all writers have exited
    /// or `finish` is called. Output that a program prints while it is being terminated is included. Call it once.
    ///
    /// - Parameter handle: Called on the reactor's thread.
    /// - Throws: `SystemError`: no descriptor left, or no memory.
    package func lines(_ handle: @Sendable (String) -> Void) async throws(SystemError) {
        guard let reading = reading.take() else { return }
        let channel = try Channel(reading, on: reactor)
        waiter = channel.waiter
        while try !readAll(of: channel, handle), !isOver {
            _ = await channel.waiter.waitToTheEnd(for: .readable, until: .now + .seconds(3600))
        }
        if !line.isEmpty { end(handle) }
    }

    /// Makes `lines` return once it has handed over everything printed so far. Processes that left the child's process
    /// group could keep printing without limit.
    package func finish() {
        isOver = true
        waiter?.wake()
    }

    /// Reads the available bytes. Returns whether the end of the stream was reached.
    private func readAll(of channel: Channel, _ handle: (String) -> Void) throws(SystemError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(channel.descriptor.rawValue, &buffer, buffer.count)
            if count == 0 { return true }
            if count > 0 {
                for byte in buffer[..<count] { add(byte, handle) }
            } else if errno == EAGAIN {
                channel.waiter.noteExhausted(.readable)
                return false
            } else if errno != EINTR {
                throw .last("read", "a pipe")
            }
        }
    }

    private func add(_ byte: UInt8, _ handle: (String) -> Void) {
        guard byte != UInt8(ascii: "\n") else { return end(handle) }
        if line.count < Self.lineLimit { line.append(byte) } else { isCut = true }
    }

    private func end(_ handle: (String) -> Void) {
        handle(String(decoding: line, as: UTF8.self) + (isCut ? "…" : ""))
        (line, isCut) = ([], false)
    }
}
