import CLinux

/// Keys and signals for a command that keeps showing something until the user ends it.
///
/// On a terminal, keys arrive at once and are not echoed. The terminal's modes are restored on deinit. Calls block.
package struct Console: ~Copyable {
    /// One input event.
    package enum Input: Hashable, Sendable {
        /// A key, identified by the first byte it sends.
        case key(UInt8)
        /// A termination signal, or the terminal was closed.
        case end
        /// No input within the limit.
        case nothing
    }

    private let signals: Descriptor
    /// The terminal's modes before; `nil` unless both input and output are terminals.
    private let before: clinux_terminal?

    private init(signals: consuming Descriptor, before: clinux_terminal?) {
        self.signals = signals
        self.before = before
    }

    deinit {
        guard var before else { return }
        // Fails if the terminal is gone.
        _ = unsafe clinux_restore_terminal(StandardStream.input.rawValue, &before)
    }

    /// Opens the program's console. Each of the blocked signals ends it.
    ///
    /// - Throws: `SystemError`: no descriptor left, or the terminal is gone.
    package static func open(_ blocked: BlockedSignals) throws(SystemError) -> Console {
        var set = blocked.signals.kernelSet
        let number = unsafe clinux_signalfd(&set)
        guard number >= 0 else { throw .last("signalfd") }
        let signals = Descriptor(adopting: number)
        guard StandardStream.input.isTerminal, StandardStream.output.isTerminal else {
            return Console(signals: signals, before: nil)
        }
        var before = clinux_terminal()
        guard unsafe clinux_keys_at_once(StandardStream.input.rawValue, &before) == 0 else {
            throw .last("tcsetattr", "standard input")
        }
        return Console(signals: signals, before: before)
    }

    /// Writes to standard output, until a signal ends the wait for a reader that has stopped.
    ///
    /// - Returns: Whether all was written.
    /// - Throws: `SystemError`, as `StandardStream.send`.
    package borrowing func show(_ bytes: [UInt8]) throws(SystemError) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let found = clinux_wait_read_or_write(signals.rawValue, StandardStream.output.rawValue)
            if found > 0, found & 1 != 0 { return false }
            guard found > 0 else { continue }
            // A pipe that takes bytes takes as many as an atomic write has (PIPE_BUF, pipe(7)).
            try StandardStream.output.send(Array(rest.prefix(4_096)))
            rest = rest.dropFirst(4_096)
        }
        return true
    }

    /// Waits for the next key or signal, up to `limit`.
    package borrowing func next(within limit: Duration) -> Input {
        let (seconds, attoseconds) = limit.components
        let milliseconds = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        let keys = before == nil ? -1 : StandardStream.input.rawValue
        let found = clinux_wait_either_until(signals.rawValue, keys, milliseconds)
        guard found > 0 else { return .nothing }
        guard found & 1 == 0 else { return .end }
        var byte: UInt8 = 0
        let count = unsafe read(keys, &byte, 1)
        return count == 1 ? .key(byte) : .end
    }
}

extension StandardStream {
    /// The terminal's size in columns and rows; `nil` if the stream is not a terminal or reports no size.
    package var terminalSize: (columns: Int, rows: Int)? {
        var (columns, rows): (Int32, Int32) = (0, 0)
        let code = unsafe clinux_terminal_size(rawValue, &columns, &rows)
        guard code == 0, columns > 0, rows > 0 else { return nil }
        return (Int(columns), Int(rows))
    }
}
