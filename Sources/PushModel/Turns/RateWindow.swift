/// Enforces a rate as a limit: in any unit of time, it lets through at most the rate's count, which may come at once.
///
/// Reads no clock. What is taken within a 64th of the unit counts until the last of it is a unit old, so memory is bounded.
package struct RateWindow: Sendable {
    /// Notifications that were taken at nearly the same time.
    private struct Part {
        let start: Moment
        /// When the last of them was taken. They count for one unit from then; more than the rate allows, for several.
        var end: Moment
        var count: Int
    }

    /// The rate. What was taken counts against a changed one, too.
    package var rate: Rate
    /// What counts, the oldest first.
    private var parts: [Part] = []
    private var total = 0

    /// Creates a window in which nothing was taken.
    package init(_ rate: Rate) {
        self.rate = rate
    }

    /// Returns how many notifications may be taken now.
    package mutating func available(at now: Moment) -> Int {
        while let first = parts.first, now - first.end >= rate.unit.duration {
            let count = min(first.count, rate.count)
            total -= count
            parts[0].count -= count
            parts[0].end = first.end + rate.unit.duration
            if parts[0].count == 0 { parts.removeFirst() }
        }
        return max(0, rate.count - total)
    }

    /// Records that `count` notifications are taken now. More than are available delay the next ones as long as they would
    /// have had to wait themselves.
    package mutating func record(_ count: Int, at now: Moment) {
        guard count > 0 else { return }
        total += count
        if let last = parts.last, now - last.start < rate.unit.duration / 64 {
            parts[parts.count - 1].count += count
            parts[parts.count - 1].end = max(last.end, now)
        } else {
            parts.append(Part(start: now, end: now, count: count))
        }
    }

    /// Takes one notification back, the latest.
    package mutating func giveBack() {
        guard let last = parts.last else { return }
        total -= 1
        parts[parts.count - 1].count -= 1
        if last.count == 1 { parts.removeLast() }
    }

    /// When the next notification may be taken, unless more are taken before.
    package var next: Moment {
        var excess = total - rate.count + 1
        guard excess > 0 else { return .zero }
        for part in parts {
            if excess <= part.count {
                return part.end + rate.unit.duration * ((excess + rate.count - 1) / rate.count)
            }
            excess -= part.count
        }
        return .zero
    }
}
