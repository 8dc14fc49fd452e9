/// Words of commands that are proposed to people: a POSIX shell takes each as one, whatever is in it.
///
/// What a terminal would obey is escaped as `VisibleText` says, and then it is another word: no command, all the same.
package enum ShellWord {
    /// The word in single quotes.
    package static func quoted(_ text: String) -> String {
        var word = "'"
        for scalar in VisibleText.escaped(text).unicodeScalars {
            word += scalar == "'" ? #"'\''"# : String(scalar)
        }
        return word + "'"
    }

    /// The word as it is, if that is the same to every shell, and else in single quotes.
    package static func spelled(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : quoted(text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        // Digits and +,-./: with them; @ and letters; the underscore.
        case 0x2B...0x3A, 0x40...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }
}
