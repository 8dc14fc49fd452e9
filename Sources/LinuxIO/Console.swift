import CLinux
import Glibc

/// The keys and the signals that a command waits for which shows something until somebody has seen enough.
///
/// On a terminal keys come as they are pressed, and are not shown; it is as before when the value goes. Calls block.
package struct Console: ~Copyable {
    /// What came.
    package enum Input: Hashable, Sendable {
        /// A key, by the first byte it sends.
        case key(UInt8)
        /// A signal to end, or the end of the terminal.
        case end
        /// Nothing in time.
        case nothing
    }

    private let signals: Descriptor
    /// What the terminal was like; `nil` where there is none on both sides.
    private let before: clinux_terminal?

    private init(signals: consuming Descriptor, before: clinux_terminal?) {
        self.signals = signals
        self.before = before
    }

    deinit {
        guard var before else { return }
        // Fails when the terminal is gone.
        _ = unsafe clinux_restore_terminal(StandardStream.input.rawValue, &before)
    }

    /// Opens the console of the program; it ends at one of the blocked signals.
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

    /// Waits for the next key or signal, at most so long.
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
    /// How many columns and rows the terminal has; `nil` if it is none, or does not say.
    package var terminalSize: (columns: Int, rows: Int)? {
        var (columns, rows): (Int32, Int32) = (0, 0)
        let code = unsafe clinux_terminal_size(rawValue, &columns, &rows)
        guard code == 0, columns > 0, rows > 0 else { return nil }
        return (Int(columns), Int(rows))
    }
}
