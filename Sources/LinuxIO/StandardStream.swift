import CLinux
import Glibc
import Synchronization

/// The three standard streams.
package enum StandardStream: Int32, Sendable {
    /// Standard input.
    case input = 0
    /// Standard output, for results.
    case output = 1
    /// Standard error, for messages.
    case error = 2

    /// Opens /dev/null in place of each standard stream that is closed. Otherwise the next file that the program opens
    /// would get its number, and messages would be written into that file.
    ///
    /// Reading from a stream that was closed, and writing results to it, still fails (EBADF). Call it first in `main`.
    ///
    /// - Throws: `SystemError`: there is no /dev/null, or no descriptor left.
    package static func openClosed() throws(SystemError) {
        for (stream, mode) in [(input, O_WRONLY), (output, O_RDONLY), (error, O_RDWR)] {
            guard fcntl(stream.rawValue, F_GETFD) < 0 else { continue }
            // The kernel assigns the lowest free number: those below are open by now. Child processes inherit it.
            guard unsafe open("/dev/null", mode) == stream.rawValue else { throw .last("open", "/dev/null") }
        }
    }

    /// The queue of standard error; `nil` if messages are written at once.
    private static let queue = Mutex<LineQueue?>(nil)
    /// How long the end of the program waits for a reader of standard error.
    private static let flushLimit = Duration.seconds(2)

    /// Makes `write` to standard error return at once from now on. A thread writes the lines; those that a reader is too
    /// slow for are dropped. The end of the program waits for the lines (`Host.leave`).
    ///
    /// For a program that keeps running. Where there is no thread left, messages are still written at once.
    ///
    /// - Parameter notice: Returns the line that tells how many lines were lost.
    package static func queueErrors(notice: @escaping @Sendable (Int) -> [UInt8]) {
        let new = try? LineQueue(to: { (line) throws(SystemError) in try error.send(line) }, notice: notice)
        queue.withLock { $0 = new }
    }

    /// Waits until the queued lines are written, for two seconds at most.
    static func flushErrors() { queue.withLock { $0 }?.flush(within: flushLimit) }

    /// How many messages for standard error were lost since the queue was started.
    package static var lostErrorCount: Int { queue.withLock { $0 }?.lostCount ?? 0 }

    /// Writes all bytes, waiting as long as it takes; to standard error after `queueErrors`, without waiting.
    ///
    /// Stops silently on an error, for example if the reader has closed the pipe.
    package func write(_ bytes: [UInt8]) {
        if self == .error, let queue = Self.queue.withLock({ $0 }) { return queue.add(bytes) }
        _ = try? send(bytes)
    }

    /// Writes all bytes, waiting as long as it takes, for callers that must know whether they were written.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe and SIGPIPE did not end the program, ENOSPC,
    ///   EIO. A part may have been written.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(rawValue, $0.baseAddress?.advanced(by: offset), $0.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var poller = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&poller, 1, -1)
                continue
            }
            guard count > 0 else { throw .last("write", "standard output") }
            offset += count
        }
    }

    private static let lacksOutput = Atomic(false)

    /// Whether output was lost other than by a closed pipe. The program must then exit with a failure status.
    package static var hasLostOutput: Bool { lacksOutput.load(ordering: .relaxed) }

    /// Writes all bytes to standard output, for callers that continue after an error.
    ///
    /// - Returns: The error of the first loss; `nil` for later losses and for a closed pipe, on which it stops silently.
    package static func print(_ bytes: [UInt8]) -> SystemError? {
        do throws(SystemError) {
            try output.send(bytes)
            return nil
        } catch {
            guard !error.isBrokenPipe, !lacksOutput.exchange(true, ordering: .relaxed) else { return nil }
            return error
        }
    }

    /// Makes written bytes survive a power loss if the stream is a file. Does nothing for a pipe or a terminal.
    ///
    /// - Throws: `SystemError`: EIO, ENOSPC; the written bytes may be lost.
    package func sync() throws(SystemError) {
        guard uninterrupted({ fsync(rawValue) }) != 0 else { return }
        guard errno != EINVAL, errno != EROFS, errno != EOPNOTSUPP else { return }
        throw .last("fsync", "standard output")
    }

    /// Reads to the end, waiting as long as it takes. Reads at most `limit` + 1 bytes, so that the caller can detect
    /// longer input.
    ///
    /// - Throws: `SystemError`: the stream is closed or broken.
    package func readToEnd(limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", "standard input") }
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk.prefix(min(count, limit + 1 - bytes.count)))
        }
        return bytes
    }

    /// Whether the stream goes to systemd's journal, which takes `<n>` at the start of a line as its priority. Compares
    /// the file with `JOURNAL_STREAM` (systemd.exec(5)).
    package var isJournal: Bool {
        var raw = stat()
        guard let named = EnvironmentVariable.value("JOURNAL_STREAM"), unsafe fstat(rawValue, &raw) == 0 else {
            return false
        }
        return named == "\(raw.st_dev):\(raw.st_ino)"
    }

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(rawValue) == 1 }
}

extension SystemError {
    /// Whether the reader has closed the pipe or socket (EPIPE).
    package var isBrokenPipe: Bool { code == EPIPE }
}
