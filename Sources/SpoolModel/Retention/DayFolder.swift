package import APNSModel

/// A folder of an archive that is called after a UTC day: `2026-11-21`.
package struct DayFolder: Hashable, Comparable, Sendable {
    /// Its name.
    package let name: String
    /// When the day begins.
    package let start: WallTime

    /// Takes the name of a folder.
    ///
    /// - Returns: `nil` when the daemon gives no folder this name.
    package init?(name bytes: [UInt8]) {
        guard bytes.count == 10, let name = String(validating: bytes, as: UTF8.self),
            let start = WallTime(rfc3339: name + "T00:00:00Z"), start.day == name
        else { return nil }
        (self.name, self.start) = (name, start)
    }

    /// When the day ends.
    package var end: WallTime { start + .seconds(86_400) }

    /// Returns whether the left day is the earlier one.
    package static func < (left: DayFolder, right: DayFolder) -> Bool { left.start < right.start }
}
