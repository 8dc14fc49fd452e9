package import PushModel

/// A request to the ZeroMQ door, in the commands of py-apnsd.
///
/// ```text
/// command = "send" expiry number token{number} payload | "feedback"
/// ```
///
/// Words are separated by white space; the first one may have letters of any case. The payload is the rest of the request, and
/// may have spaces in it.
package enum PushCommand: Hashable, Sendable {
    /// Sends one payload to some devices.
    case send(SendCommand)
    /// Asks for the tokens that the gateway has called gone or invalid.
    case feedback

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - request: The bytes of the request.
    ///   - now: The time from which a relative expiry counts.
    /// - Throws: `CommandFault`: the first fault. Nothing is sent, also if only one token is at fault.
    package init(_ request: [UInt8], at now: WallTime) throws(CommandFault) {
        var words = CommandWords(request)
        let verb = String(decoding: (words.next() ?? []).prefix(16), as: UTF8.self).lowercased()
        switch verb {
        case "feedback" where words.rest.isEmpty: self = .feedback
        case "send": self = .send(try SendCommand(&words, at: now))
        default: throw .unknownCommand
        }
    }
}

/// The words of a request, one after the other.
struct CommandWords {
    /// What follows the last word, without the white space around it.
    private(set) var rest: ArraySlice<UInt8>

    init(_ request: [UInt8]) {
        rest = request[...].drop(while: Self.isSpace)
        while let last = rest.last, Self.isSpace(last) { rest.removeLast() }
    }

    /// Takes the next word; `nil` if there is none.
    mutating func next() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let word = rest.prefix { !Self.isSpace($0) }
        rest = rest[word.endIndex...].drop(while: Self.isSpace)
        return word
    }

    /// Whether a byte is a space, or one of tab, line feed, vertical tab, form feed and carriage return.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
