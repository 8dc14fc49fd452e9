import CLinux
import Glibc
import Synchronization

/// What other programs print, line by line: a pipe to pass to `ChildProcess.start`, and its reader on a reactor.
package actor ChildOutput {
    /// How many bytes of a line are kept; the rest of it is passed over.
    package static let lineLimit = 1_000

    private let reactor: Reactor
    /// Where it is read, until `lines` takes it over.
    private var reading: Descriptor?
    /// Where the programs write, until `closeWriting`.
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
        // A program that others have written may not expect that its own end does not block.
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else { throw .last("fcntl", "F_SETFL") }
        self.reactor = reactor
        self.reading = consume reading
        self.writing = Mutex(consume writing)
    }

    /// The number of the end that programs write to.
    nonisolated var writingNumber: Int32? { writing.withLock { $0?.rawValue } }

    /// Closes this program's own end for writing, when the last program was started that gets it.
    nonisolated func closeWriting() {
        writing.withLock { $0 = nil }
    }

    /// Hands over each line as it is printed, without its end and decoded as UTF-8, until all who can write have ended or
    /// `finish` is called: a program that ends because its time is up still says why. Call it once.
    ///
    /// - Parameter take: Called on the reactor's thread.
    /// - Throws: `SystemError`: no descriptor left, or no memory.
    package func lines(_ take: @Sendable (String) -> Void) async throws(SystemError) {
        guard let reading = reading.take() else { return }
        let channel = try Channel(reading, on: reactor)
        waiter = channel.waiter
        while try !readAll(of: channel, take), !isOver {
            _ = await channel.waiter.waitToTheEnd(for: .readable, until: .now + .seconds(3600))
        }
        if !line.isEmpty { end(take) }
    }

    /// Ends `lines` when it has handed over what was printed until now: those who have left the program's group may print for
    /// ever.
    package func finish() {
        isOver = true
        waiter?.wake()
    }

    /// Reads what there is; whether that was all there will be.
    private func readAll(of channel: Channel, _ take: (String) -> Void) throws(SystemError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(channel.descriptor.rawValue, &buffer, buffer.count)
            if count == 0 { return true }
            if count > 0 {
                for byte in buffer[..<count] { add(byte, take) }
            } else if errno == EAGAIN {
                channel.waiter.noteExhausted(.readable)
                return false
            } else if errno != EINTR {
                throw .last("read", "a pipe")
            }
        }
    }

    private func add(_ byte: UInt8, _ take: (String) -> Void) {
        guard byte != UInt8(ascii: "\n") else { return end(take) }
        if line.count < Self.lineLimit { line.append(byte) } else { isCut = true }
    }

    private func end(_ take: (String) -> Void) {
        take(String(decoding: line, as: UTF8.self) + (isCut ? "…" : ""))
        (line, isCut) = ([], false)
    }
}
