import PushModel

/// A histogram of durations, with ten steps per power of ten from a millisecond to eleven days.
package struct LatencyHistogram: Hashable, Sendable {
    /// A column in a plot.
    package struct Column: Hashable, Sendable {
        /// The shortest duration in the column; the next column starts where it ends.
        package let from: Duration
        /// The number of durations.
        package let count: Int
    }

    /// The powers of the tenth root of ten, in thousandths.
    private static let mantissas: [Int64] = [1000, 1259, 1585, 1995, 2512, 3162, 3981, 5012, 6310, 7943]
    private static let decadeCount = 9
    /// The starts of the steps, in microseconds. Durations before the first are less than a millisecond.
    private static let edges: [Int64] = {
        var (edges, power): ([Int64], Int64) = ([], 1)
        for _ in 0..<Self.decadeCount {
            edges += Self.mantissas.map { $0 * power }
            power *= 10
        }
        return edges + [1000 * power]
    }()
    /// The steps that start a column: those at 1, 2 and 5.
    private static let columnSteps: Set<Int> = [0, 3, 7]

    /// The number of durations.
    package private(set) var count = 0
    /// The longest duration.
    package private(set) var longest = Duration.zero
    private var counts = [Int](repeating: 0, count: LatencyHistogram.edges.count + 1)

    /// Creates an empty histogram.
    package init() {}

    /// Adds a duration. A negative one, which occurs if clocks differ, counts as zero.
    package mutating func add(_ duration: Duration) {
        let duration = max(Duration.zero, duration)
        counts[Self.step(of: duration.wholeNanoseconds / 1000)] += 1
        longest = max(longest, duration)
        count += 1
    }

    /// Returns the duration below which this share of the durations lies (`0.99` for 99 of 100), accurate to a quarter;
    /// `nil` if there are none.
    package func quantile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        let wanted = max(1, min(Double(count), share * Double(count)))
        var before = 0
        for (step, number) in counts.enumerated() where number > 0 {
            if Double(before + number) >= wanted {
                let from = step == 0 ? 0 : Self.edges[step - 1]
                let to = step < Self.edges.count ? Self.edges[step] : longest.wholeNanoseconds / 1000
                let part = (wanted - Double(before)) / Double(number)
                return min(longest, .microseconds(Double(from) + part * Double(max(0, to - from))))
            }
            before += number
        }
        return longest
    }

    /// The columns from the first to the last that is not empty.
    package var columns: [Column] {
        var columns = [Column(from: .zero, count: counts[0])]
        for (step, number) in counts.enumerated().dropFirst() {
            if Self.columnSteps.contains((step - 1) % Self.mantissas.count) {
                columns.append(Column(from: Self.start(ofColumnAt: step), count: number))
            } else {
                let last = columns.removeLast()
                columns.append(Column(from: last.from, count: last.count + number))
            }
        }
        guard let first = columns.firstIndex(where: { $0.count > 0 }),
            let last = columns.lastIndex(where: { $0.count > 0 })
        else { return [] }
        return Array(columns[first...last])
    }

    /// Returns the start of a column without rounding errors: 1, 2 or 5 times a power of ten.
    private static func start(ofColumnAt step: Int) -> Duration {
        let milliseconds = (edges[step - 1] + edges[step - 1] / 100) / 1000
        var power: Int64 = 1
        while power * 10 <= milliseconds { power *= 10 }
        return .milliseconds(milliseconds / power * power)
    }

    private static func step(of microseconds: Int64) -> Int {
        var (low, high) = (0, edges.count)
        while low < high {
            let middle = (low + high) / 2
            if edges[middle] <= microseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
