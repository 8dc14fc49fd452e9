/// The name of a file in a spool, as the bytes that the kernel knows it by.
///
/// Never a `String`: two names that are different bytes can be equal text (NFC and NFD), and many names are no text.
package struct FileName: Hashable, Sendable {
    /// How many bytes a name can have on every filesystem we know.
    package static let byteLimit = 255

    /// 1 to 255 bytes, none of them a slash or NUL; not `.` or `..`.
    package let bytes: [UInt8]

    /// Takes a name as the kernel gave it.
    ///
    /// - Returns: `nil` when no file can be called so.
    package init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.byteLimit, bytes != [0x2E], bytes != [0x2E, 0x2E],
            !bytes.contains(where: { $0 == 0 || $0 == 0x2F })
        else { return nil }
        self.bytes = bytes
    }

    /// Takes a name of ours as it is written, `%` included.
    ///
    /// - Returns: `nil` when no file can be called so.
    package init?(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// Trusts bytes made here from those of valid names.
    init(checked bytes: [UInt8]) {
        precondition(bytes.count <= Self.byteLimit, "a file name over 255 bytes")
        self.bytes = bytes
    }
}

extension FileName {
    /// Hashes eight bytes at a time; an array would hash each by itself, and names are hashed often.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes.count)
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index % 8 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
    }
}

extension FileName: Comparable {
    /// Returns whether the left name comes first, byte by byte.
    package static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
