import Document

/// The daemon's own identifier of a job: 128 random bits, created at the first claim and kept across crashes, hold,
/// release and partial retry.
package struct JobID: Hashable, Sendable, CustomStringConvertible {
    /// The 128 bits.
    package let bits: UInt128

    /// Creates an id from its bits. Random bits make a new identifier.
    package init(bits: UInt128) {
        self.bits = bits
    }

    /// Parses an id.
    ///
    /// - Returns: `nil` unless `text` is 26 characters of Crockford's alphabet, in any case, with a value of at most
    ///   128 bits.
    package init?(_ text: some StringProtocol) {
        var bits: UInt128 = 0
        var count = 0
        for byte in text.utf8 {
            guard count < 26, let digit = crockford.firstIndex(of: byte >= 0x61 && byte <= 0x7A ? byte - 0x20 : byte)
            else { return nil }
            guard count > 0 || digit < 8 else { return nil }
            (bits, count) = (bits << 5 | UInt128(digit), count + 1)
        }
        guard count == 26 else { return nil }
        self.bits = bits
    }

    /// Hashes half of the bits, which are random.
    package func hash(into hasher: inout Hasher) { hasher.combine(UInt64(truncatingIfNeeded: bits)) }

    /// 26 characters of Crockford's base 32, most significant first. They sort in the order of the bits.
    package var description: String { String(spelledBy: { append(to: &$0) }) }

    /// Appends the 26 characters of `description`.
    package func append(to text: inout [UInt8]) {
        let digits = crockford
        text.append(addingCapacity: 26) { output in
            // In words, because a shift of 128 bits takes several steps.
            let (high, low) = (UInt(truncatingIfNeeded: bits >> 65), UInt(truncatingIfNeeded: bits))
            for shift in stride(from: 60, through: 0, by: -5) { output.append(digits[Int(high >> shift & 31)]) }
            output.append(digits[Int(truncatingIfNeeded: bits >> 60) & 31])
            for shift in stride(from: 55, through: 0, by: -5) { output.append(digits[Int(low >> shift & 31)]) }
        }
    }
}

/// Crockford's alphabet: no I, L, O or U.
private let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
