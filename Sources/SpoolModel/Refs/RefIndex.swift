package import PushModel

/// An index of the jobs that were sent, by ref, into the daily files: about 32 bytes of memory per record.
///
/// The key is a 64-bit hash of the ref, so the record at a place may be for another ref. In a day, the last record of a
/// hash wins.
package struct RefIndex: Sendable {
    /// The location of a record.
    package struct Place: Hashable, Sendable {
        /// The day of its file, UTC: `2026-11-21`.
        package let day: String
        /// The offset of its line in the file.
        package let offset: Int64
    }

    private var days: [String: [Int: Int64]] = [:]

    /// Creates an empty index.
    package init() {}

    /// The number of records.
    package var count: Int { days.values.reduce(0) { $0 + $1.count } }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - key: The ref as written in the file.
    ///   - day: The day of the file.
    ///   - offset: The offset of its line.
    package mutating func note(_ key: [UInt8], on day: String, at offset: Int64) {
        days[day, default: [:]][key.hashValue] = offset
    }

    /// Returns the places that may contain a ref, the latest day first.
    package func places(of key: [UInt8]) -> [Place] {
        guard !days.isEmpty else { return [] }
        let hash = key.hashValue
        return days.keys.sorted(by: >).compactMap { day in
            days[day]?[hash].map { Place(day: day, offset: $0) }
        }
    }

    /// Removes a day.
    package mutating func remove(_ day: String) {
        days[day] = nil
    }

    /// Whether the records of a day have expired: the whole day is further in the past than the time for which refs are kept.
    ///
    /// - Returns: `false` if `day` is not a day.
    package static func isOver(_ day: String, after window: Duration, at now: WallTime) -> Bool {
        guard let start = WallTime(rfc3339: day + "T00:00:00Z") else { return false }
        return start + .seconds(86_400) + window <= now
    }
}
