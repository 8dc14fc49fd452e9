import JournalModel
import LinuxIO

/// Makes tasks wait until there is room for outcomes: in the app's share of the journal, and among the lines in memory.
final class OutcomeRoom {
    /// The source of outcomes. One request of each may wait at the same time.
    enum Source: Int {
        /// The gateway has reported them.
        case reported
        /// The notifications were taken back from the gateway.
        case takenBack
    }

    /// How often a task that waits for room updates the status, which reports long waits.
    private static let statusPause = Duration.seconds(1)

    private let parts: AppParts
    private let publisher: Publisher
    private let status: StatusReporter

    init(_ parts: AppParts, _ publisher: Publisher, _ status: StatusReporter) {
        (self.parts, self.publisher, self.status) = (parts, publisher, status)
    }

    /// Waits until outcomes that take this many bytes of the journal may be recorded.
    ///
    /// - Returns: `false` if the app stops before.
    func wait(for byteCount: Int, _ source: Source) async -> Bool {
        let journal = parts.journal
        if !journal.isBroken, !mayRecord(byteCount, source) {
            let isOver = { [journal, lifecycle = parts.context.lifecycle] in
                journal.isBroken || lifecycle.isEnding || self.mayRecord(byteCount, source)
            }
            publisher.hurry()
            while await !publisher.progress.wait(until: .now + Self.statusPause, for: isOver) {
                if Task.isCancelled { return false }
                status.update()
            }
            guard journal.isBroken || mayRecord(byteCount, source) else { return false }
        }
        parts.room.endWait(for: .outcomes)
        return true
    }

    /// Whether these outcomes may be recorded: there is room, or nothing under way that would make room.
    private func mayRecord(_ byteCount: Int, _ source: Source) -> Bool {
        let progress = publisher.progress
        let hasRoom = parts.room.has(byteCount, for: .outcomes, number: source.rawValue, orWake: progress.broadcast)
        return hasRoom && !parts.lines.isOverfull || !publisher.isAtWork
    }
}
