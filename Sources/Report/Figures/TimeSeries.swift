import PushModel

/// Counts over time, by kind, in buckets that fit the times added: they widen as the span of the times grows.
package struct TimeSeries: Hashable, Sendable {
    /// The counts: one row per kind, one column per bucket.
    package private(set) var rows: [[Double]]
    /// The buckets; `nil` before the first time.
    package private(set) var buckets: TimeBuckets?

    /// Creates a series without times.
    init(kindCount: Int) {
        rows = Array(repeating: [], count: kindCount)
    }

    /// Spreads counts, one for each kind, evenly over an interval.
    ///
    /// - Parameters:
    ///   - counts: The counts.
    ///   - begin: The start of the interval.
    ///   - end: Its end.
    ///   - first: The earliest time to show. The part of the interval before it is left out.
    mutating func add(_ counts: [Int], from begin: WallTime, to end: WallTime, since first: WallTime) {
        widen(to: TimeBuckets(since: max(first, min(begin, end)), until: end + .nanoseconds(1)))
        guard let buckets else { return }
        buckets.share(from: begin, to: end) { index, share in
            for (kind, count) in counts.enumerated() where count > 0 { rows[kind][index] += Double(count) * share }
        }
    }

    /// Extends the buckets so that they contain a span, too.
    mutating func widen(to span: TimeBuckets) {
        guard let old = buckets else {
            rows = rows.map { _ in [Double](repeating: 0, count: span.count) }
            buckets = span
            return
        }
        let wide = old.union(span)
        buckets = wide
        guard !wide.divides(as: old) else { return }
        rows = rows.map { row in
            var counts = [Double](repeating: 0, count: wide.count)
            for (index, count) in row.enumerated() { counts[wide.nearestIndex(of: old.start(of: index))] += count }
            return counts
        }
    }
}
