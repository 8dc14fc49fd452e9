import Document

/// Checks names of apps, which are names of folders and, with `.yaml`, of files.
package enum AppName {
    /// How many bytes a name may have: files of the daemon's own are called by it and by more, up to 255 (NAME_MAX).
    package static let byteLimit = 200
    /// What a name may be, in words.
    package static let rule =
        "up to \(byteLimit) bytes of UTF-8 without '/' and control characters, not '.' first, and not lost+found"

    /// Whether a folder or a file may be called so, and a person can read it.
    package static func isValid(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= byteLimit else { return false }
        // What mkfs makes at the root of a volume, and what stands for bytes that are no UTF-8.
        guard name != "lost+found" else { return false }
        return name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\u{FFFD}" && !$0.countsAsControl }
    }
}

/// Checks names of nodes, which are those of hosts as a rule.
package enum NodeName {
    /// What a name may be, in words.
    package static let rule = "up to 64 letters, digits, '.', '_' and '-', a letter or digit first; not `public`"

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
