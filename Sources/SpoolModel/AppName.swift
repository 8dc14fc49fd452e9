import Document

/// Checks app names, which are also the names of folders and, with `.yaml` appended, of files.
package enum AppName {
    /// The most bytes a name may have. The daemon appends suffixes for its own files, up to 255 bytes (NAME_MAX).
    package static let byteLimit = 200
    /// The rule for a name, in words.
    package static let rule =
        "up to \(byteLimit) bytes of UTF-8 without '/' or control characters, not '.' first, and not lost+found"

    /// Whether a folder or file may have this name and a person can read it.
    package static func isValid(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= byteLimit else { return false }
        // `lost+found` is the folder that mkfs creates at the root of a volume; U+FFFD stands for bytes that are not UTF-8.
        guard name != "lost+found" else { return false }
        return name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\u{FFFD}" && !$0.countsAsControl }
    }
}

/// Checks node names, which are usually host names.
package enum NodeName {
    /// The rule for a name, in words.
    package static let rule = "1 to 64 letters, digits, '.', '_' or '-', first a letter or digit; not `public`"

    /// Whether `name` matches `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, and is not `public`.
    package static func isValid(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, isAlphanumeric(first), bytes.count <= 64, name != "public" else { return false }
        return bytes.allSatisfy { isAlphanumeric($0) || [0x2E, 0x5F, 0x2D].contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
