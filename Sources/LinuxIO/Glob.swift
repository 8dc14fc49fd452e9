import Glibc

/// Patterns as a shell has them for names of files (fnmatch(3)).
package enum Glob {
    /// Whether a text has anything in it that is special in a pattern.
    package static func isPattern(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
    }

    /// Whether a text fits a pattern as a whole. A slash is fitted by a slash only.
    package static func fits(_ text: String, _ pattern: String) -> Bool {
        unsafe fnmatch(pattern, text, FNM_PATHNAME) == 0
    }
}
