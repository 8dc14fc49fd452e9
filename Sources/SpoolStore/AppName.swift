/// Checks names of apps and nodes, which are names of folders.
package enum AppName {
    /// What a name may be, in words.
    package static let rule = "up to 64 letters, digits, '.', '_' and '-', a letter or digit first"

    /// Whether `name` matches `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    package static func isValid(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, isAlphanumeric(first), bytes.count <= 64 else { return false }
        return bytes.allSatisfy { isAlphanumeric($0) || [0x2E, 0x5F, 0x2D].contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
