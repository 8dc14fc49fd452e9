/// Our own name of a job: 128 random bits, made at the first claim, kept over crash, hold, release and partial retry.
package struct JobID: Hashable, Sendable, CustomStringConvertible {
    /// The bits themselves.
    package let bits: UInt128

    /// Creates the id with these bits; random ones make a new name.
    package init(bits: UInt128) {
        self.bits = bits
    }

    /// Creates the id that `text` spells.
    ///
    /// - Returns: `nil` unless `text` is 26 characters of Crockford's alphabet, in any case, of at most 128 bits.
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

    /// 26 characters of Crockford's base 32, most significant first: they sort as the bits do.
    package var description: String { String(spelledBy: append) }

    /// Appends the 26 characters of `description`.
    package func append(to text: inout [UInt8]) {
        let digits = crockford
        text.append(addingCapacity: 26) { output in
            for shift in stride(from: 125, through: 0, by: -5) {
                output.append(digits[Int(truncatingIfNeeded: bits >> UInt128(shift)) & 31])
            }
        }
    }
}

/// Crockford's alphabet: no I, L, O or U.
private let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
