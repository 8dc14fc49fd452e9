import CLinux
import Glibc
import Synchronization

/// The three streams a program is started with.
package enum StandardStream: Int32, Sendable {
    /// What it is given.
    case input = 0
    /// What it is asked for.
    case output = 1
    /// What it has to say besides.
    case error = 2

    /// Writes all bytes, waiting as long as it takes.
    ///
    /// A reader that is gone ends the writing in silence: there is nobody left to tell.
    package func write(_ bytes: [UInt8]) {
        _ = try? send(bytes)
    }

    /// Writes all bytes, waiting as long as it takes, for those who must know that they were written.
    ///
    /// - Throws: `SystemError`: EPIPE when the reader is gone and SIGPIPE did not end the program, ENOSPC, EIO; a part may
    ///   have been written.
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

    /// Whether something that was printed got lost, though somebody may be reading: then the program must not end well.
    package static var hasLostOutput: Bool { lacksOutput.load(ordering: .relaxed) }

    /// Writes all bytes to standard output, for those who go on whatever becomes of them.
    ///
    /// - Returns: Why they were lost, the first time that some were; a reader that is gone ends the writing in silence.
    package static func print(_ bytes: [UInt8]) -> SystemError? {
        do throws(SystemError) {
            try output.send(bytes)
            return nil
        } catch {
            guard !error.isBrokenPipe, !lacksOutput.exchange(true, ordering: .relaxed) else { return nil }
            return error
        }
    }

    /// Makes what was written survive a power loss, if the stream is a file; a pipe or a terminal has nothing to sync.
    ///
    /// - Throws: `SystemError`: EIO, ENOSPC; what was written may be lost.
    package func sync() throws(SystemError) {
        guard uninterrupted({ fsync(rawValue) }) != 0 else { return }
        guard errno != EINVAL, errno != EROFS, errno != EOPNOTSUPP else { return }
        throw .last("fsync", "standard output")
    }

    /// Reads to the end, waiting as long as it takes, at most `limit` bytes and one more, which tells that there are more.
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

    /// Whether it goes to systemd's journal, which takes `<n>` at the start of a line for its priority: whether it is the file
    /// that `JOURNAL_STREAM` names (systemd.exec(5)).
    package var isJournal: Bool {
        var raw = stat()
        guard let named = EnvironmentVariable.value("JOURNAL_STREAM"), unsafe fstat(rawValue, &raw) == 0 else {
            return false
        }
        return named == "\(raw.st_dev):\(raw.st_ino)"
    }

    /// Whether a person is looking at it.
    package var isTerminal: Bool { isatty(rawValue) == 1 }
}

extension SystemError {
    /// Whether nobody reads any more what is written (EPIPE).
    package var isBrokenPipe: Bool { code == EPIPE }
}
