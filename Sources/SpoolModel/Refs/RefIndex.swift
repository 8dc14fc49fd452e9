package import APNSModel

/// Where the refs of the jobs that were sent stand in the files of the days: about 32 bytes of memory each.
///
/// Refs are known by hashes of 64 bits, so a place is one to look at: what stands there may be another ref. In a day the
/// last record of a hash counts.
package struct RefIndex: Sendable {
    /// Where a record stands.
    package struct Place: Hashable, Sendable {
        /// The day of its file, UTC: `2026-11-21`.
        package let day: String
        /// Where its line begins.
        package let offset: Int64
    }

    private var days: [String: [Int: Int64]] = [:]

    /// Creates an empty index.
    package init() {}

    /// How many records it knows.
    package var count: Int { days.values.reduce(0) { $0 + $1.count } }

    /// Takes note of a record.
    ///
    /// - Parameters:
    ///   - key: The ref as it stands there.
    ///   - day: The day of the file.
    ///   - offset: Where its line begins.
    package mutating func note(_ key: [UInt8], on day: String, at offset: Int64) {
        days[day, default: [:]][key.hashValue] = offset
    }

    /// Where a ref may stand, the last day first.
    package func places(of key: [UInt8]) -> [Place] {
        guard !days.isEmpty else { return [] }
        let hash = key.hashValue
        return days.keys.sorted(by: >).compactMap { day in
            days[day]?[hash].map { Place(day: day, offset: $0) }
        }
    }

    /// Forgets a day.
    package mutating func remove(_ day: String) {
        days[day] = nil
    }

    /// Whether nothing that was recorded on a day matters any more: it is longer ago than the time in which refs count.
    ///
    /// - Returns: `false` for what is no day.
    package static func isOver(_ day: String, after window: Duration, at now: WallTime) -> Bool {
        guard let start = WallTime(rfc3339: day + "T00:00:00Z") else { return false }
        return start + .seconds(86_400) + window <= now
    }
}
