package import PushModel

/// A folder of an archive, named after a UTC day: `2026-11-21`.
package struct DayFolder: Hashable, Comparable, Sendable {
    /// The name of the folder.
    package let name: String
    /// The start of the day.
    package let start: WallTime

    /// Takes the name of a folder.
    ///
    /// - Returns: `nil` if the daemon does not create folders of this name.
    package init?(name bytes: [UInt8]) {
        guard bytes.count == 10, let name = String(validating: bytes, as: UTF8.self),
            let start = WallTime(rfc3339: name + "T00:00:00Z"), start.day == name
        else { return nil }
        (self.name, self.start) = (name, start)
    }

    /// The end of the day.
    package var end: WallTime { start + .seconds(86_400) }

    /// Returns whether the left day is the earlier one.
    package static func < (left: DayFolder, right: DayFolder) -> Bool { left.start < right.start }
}
