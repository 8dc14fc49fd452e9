/// The name of a file in a spool, as the bytes the kernel uses.
///
/// Not a `String`: two names with different bytes can be equal as text (NFC and NFD), and a name need not be valid UTF-8.
package struct FileName: Hashable, Sendable {
    /// The most bytes in a name, on all filesystems we know.
    package static let byteLimit = 255

    /// 1 to 255 bytes, none of them a slash or NUL; not `.` or `..`.
    package let bytes: [UInt8]

    /// Takes a name as the kernel returned it.
    ///
    /// - Returns: `nil` if it is not a valid file name.
    package init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.byteLimit, bytes != [0x2E], bytes != [0x2E, 0x2E],
            !bytes.contains(where: { $0 == 0 || $0 == 0x2F })
        else { return nil }
        self.bytes = bytes
    }

    /// Takes a plain name, in which `%` is an ordinary character.
    ///
    /// - Returns: `nil` if it is not a valid file name.
    package init?(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// Trusts bytes that the caller built from valid names.
    package init(checked bytes: [UInt8]) {
        precondition(bytes.count <= Self.byteLimit, "a file name over 255 bytes")
        self.bytes = bytes
    }
}

extension FileName {
    /// Hashes eight bytes at a time. The hash of an array takes each byte by itself, and names are hashed often.
    package func hash(into hasher: inout Hasher) {
        let text = bytes.span
        hasher.combine(text.count)
        var index = 0
        while index + 8 <= text.count {
            hasher.combine(text.word(at: index))
            index += 8
        }
        guard index < text.count else { return }
        var word: UInt64 = 0
        while index < text.count {
            word = word << 8 | UInt64(text[index])
            index += 1
        }
        hasher.combine(word)
    }
}

extension FileName: Comparable {
    /// Returns whether the left name sorts first, byte by byte.
    package static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
