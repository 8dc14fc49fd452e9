package import JournalModel
package import LinuxIO

/// The reason why a journal operation failed.
package enum JournalFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no room for the record now: carry jobs forward, or claim none until some are cleaned.
    case full(JournalFull)
    /// A write or a sync failed, and its data may be lost. Final: stop sending, exit, and read the journal at the next
    /// start. The kernel may have dropped unwritten pages, so trying again proves nothing.
    case broken(SystemError)

    /// Whether the file is not ours any more; another daemon may own it.
    package var isLoss: Bool {
        switch self {
        case .full: false
        case .broken(let cause): cause.isStale
        }
    }

    /// One line for the log.
    package var description: String {
        switch self {
        case .full(let cause): "the journal is full: \(cause)"
        case .broken(let cause): "the journal cannot be written: \(cause)"
        }
    }
}
