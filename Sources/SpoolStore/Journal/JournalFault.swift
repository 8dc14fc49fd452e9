package import LinuxIO
package import SpoolModel

/// Why the journal did not do what it was asked.
package enum JournalFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no room for the record now: carry jobs forward, or claim nothing until some are cleaned.
    case full(JournalFull)
    /// A write or a sync failed, and what was to be written may be lost. Final: stop sending, exit, and read the journal
    /// again at the next start; the kernel may have dropped what it could not write, so trying again proves nothing.
    case broken(SystemError)

    /// Whether the file is not ours any more; it may be another daemon's.
    package var isLoss: Bool {
        switch self {
        case .full: false
        case .broken(let cause): cause.isStale
        }
    }

    /// One line for the log.
    package var description: String {
        switch self {
        case .full(let cause): "the journal has no room: \(cause)"
        case .broken(let cause): "the journal cannot be written: \(cause)"
        }
    }
}
