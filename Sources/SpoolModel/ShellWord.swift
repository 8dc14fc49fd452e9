import JobFormat

/// Quotes words of commands suggested to people, so that a POSIX shell takes each as one word, whatever it contains.
///
/// Characters that a terminal would interpret are escaped as in `VisibleText`. The word then differs, but is still harmless.
package enum ShellWord {
    /// Returns the word in single quotes.
    package static func quoted(_ text: String) -> String {
        var word = "'"
        for scalar in VisibleText.escaped(text).unicodeScalars {
            word += scalar == "'" ? #"'\''"# : String(scalar)
        }
        return word + "'"
    }

    /// Returns the word itself if every shell reads it literally, else in single quotes.
    package static func spelled(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : quoted(text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        // Digits and `+,-./:`; `@` and letters; the underscore.
        case 0x2B...0x3A, 0x40...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }
}
