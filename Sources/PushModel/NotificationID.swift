import Document

/// The `apns-id` of a notification: the producer's own, or a pure function of its job's id and its index, so that a resend
/// has the same id.
///
/// A derived id is a UUID of version 8 (RFC 9562 §5.8): the job's bits, with the index mixed into the last 62 and the
/// version and variant fields overwritten. Two notifications of one job never share a derived id. Those of two jobs share
/// one as rarely as random ids do.
package struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    /// The 128 bits, most significant first as printed.
    package let bits: UInt128

    /// Reads a UUID: 8-4-4-4-12 hexadecimal digits in either case (RFC 9562 §4), of any version.
    ///
    /// Apple's page asks for lowercase digits, but some clients send what their library prints, in uppercase.
    package init?(_ text: Span<UInt8>) {
        guard text.count == 36 else { return nil }
        var bits: UInt128 = 0
        for place in text.indices {
            let byte = text[place]
            if place == 8 || place == 13 || place == 18 || place == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let value = hexValue(byte) else { return nil }
                bits = bits << 4 | UInt128(value)
            }
        }
        self.bits = bits
    }

    /// Creates the derived id of the notification with this index, counted from 0 in file order.
    package init(job: JobID, index: Int) {
        let mixed = job.bits ^ UInt128(UInt64(truncatingIfNeeded: index) & 0x3FFF_FFFF_FFFF_FFFF)
        let version: UInt128 = 0x8 << 76
        let variant: UInt128 = 0b10 << 62
        let kept = ~((UInt128(0xF) << 76) | (UInt128(0b11) << 62))
        self.bits = mixed & kept | version | variant
    }

    /// 8-4-4-4-12 lowercase hexadecimal digits, the form that the gateway requires.
    package var description: String { String(spelledBy: append) }

    /// Appends the 36 characters of `description`.
    package func append(to text: inout [UInt8]) {
        text.append(addingCapacity: 36) { output in
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 { output.append(UInt8(ascii: "-")) }
                output.append(hexDigit(UInt8(truncatingIfNeeded: bits >> UInt128(124 - digit * 4)) & 0xF))
            }
        }
    }
}
