package import Document

/// The ids of notifications: each greater than those before, also after a restart or a crash.
///
/// A file has the number that no id has reached. It is raised by a block of ids before the first of them is given out, so a
/// crash leaves out the rest of a block, and no id comes twice.
package struct CommandIDs: Sendable {
    /// How many ids are reserved at least.
    private static let blockCount: UInt64 = 1024
    /// The greatest number in a file: what clients can keep as a signed number, and far from an overflow.
    private static let greatest = UInt64(Int64.max)

    /// The id that is given out next.
    private var next: UInt64
    /// The number in the file.
    private var reserved: UInt64

    /// Continues after the ids of an earlier run.
    ///
    /// - Parameter file: The content of the file: a decimal number and a line feed; `nil` if there is none, as at the first start.
    /// - Throws: `TextFault`: the content is something else. To go on as if there was no file would give out ids again.
    package init(continuing file: [UInt8]?) throws(TextFault) {
        let digits = file.map { $0.last == 0x0A ? $0.dropLast() : $0[...] } ?? [0x30]
        let isNumber = !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let number = UInt64(String(decoding: digits, as: UTF8.self)), number <= Self.greatest else {
            throw TextFault(
                "does not have the number of the next notification",
                hint: "write a number into it that is greater than any id given out, or remove it to begin with 0")
        }
        (next, reserved) = (number, number)
    }

    /// Returns what to write into the file, durably, before `allocate` may return so many ids; `nil` if nothing.
    package func reservation(for count: Int) -> Reservation? {
        let end = next + UInt64(count)
        return end <= reserved ? nil : Reservation(number: end + Self.blockCount)
    }

    /// Records that a reservation has been written.
    package mutating func note(_ reservation: Reservation) { reserved = max(reserved, reservation.number) }

    /// Gives out ids, which must have been reserved.
    package mutating func allocate(_ count: Int) -> Range<UInt64> {
        let first = next
        next += UInt64(count)
        precondition(next <= reserved, "ids are reserved before they are given out")
        return first..<next
    }

    /// A number for the file.
    package struct Reservation: Hashable, Sendable {
        fileprivate let number: UInt64

        /// The content of the file.
        package var file: [UInt8] { Array("\(number)\n".utf8) }
    }
}
