import Glibc

/// Shell patterns for file names (fnmatch(3)).
package enum Glob {
    /// Whether a text contains a character with a special meaning in patterns.
    package static func isPattern(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
    }

    /// Whether a whole text matches a pattern. Only a slash matches a slash.
    package static func fits(_ text: String, _ pattern: String) -> Bool {
        unsafe fnmatch(pattern, text, FNM_PATHNAME) == 0
    }
}
