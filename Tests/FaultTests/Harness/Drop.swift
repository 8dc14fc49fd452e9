/// A job that a test drops, whose every recipient can be told from all others by its token alone.
struct Drop: Sendable, Hashable {
    /// Which job: unlike all others of a trial.
    let number: Int
    /// How many recipients it has. From about a thousand on its file is longer than what the journal keeps of one.
    let count: Int
    /// More members of the job, such as `,"record":"all"`.
    var more = ""

    /// How many more bytes its name has.
    var filling = 0

    /// How many blanks stand behind the document: the journal keeps all of a short file.
    var padding = 0

    /// Whether it has a line for each recipient instead of one document.
    var isInLines = false

    /// The name of its file.
    var name: String { "j\(number)\(String(repeating: "x", count: filling)).\(isInLines ? "jsonl" : "json")" }

    /// The file, for an app over APNs.
    var text: String { text(over: "http2") }

    /// The file, for an app over this protocol.
    func text(over wire: String) -> String {
        let tokens = recipients.map { wire == "fcm" ? $0.registrationToken : $0.token }
        guard !isInLines else {
            let lines = tokens.map { #"{"token":"\#($0)"}"# }
            return ([#"{"defaults":{"alert":"\#(number)"}}"#] + lines + [""]).joined(separator: "\n")
        }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"tokens":[\#(list)],"alert":"\#(number)"\#(more)}"# + String(repeating: " ", count: padding)
    }

    /// Its recipients, in order.
    var recipients: [Recipient] { (0..<count).map { Recipient(job: number, index: $0) } }
}

/// One recipient of one job.
struct Recipient: Sendable, Hashable, CustomStringConvertible {
    let job: Int
    let index: Int

    init(job: Int, index: Int) {
        (self.job, self.index) = (job, index)
    }

    /// The one whose token this is, of Apple's or of FCM's; `nil` if it is nobody's.
    init?(token: [UInt8]) {
        if token.starts(with: Self.registrationPrefix.utf8) {
            guard let number = UInt64(String(decoding: token.suffix(16), as: UTF8.self), radix: 16) else { return nil }
            (job, index) = (Int(number >> 32), Int(UInt32(truncatingIfNeeded: number)))
            return
        }
        guard token.count == 32 else { return nil }
        job = token[24..<28].reduce(0) { $0 << 8 | Int($1) }
        index = token[28..<32].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The device token, in hexadecimal.
    var token: String {
        String(repeating: "ab", count: 24) + Self.digits(job) + Self.digits(index)
    }

    /// The registration token at FCM.
    var registrationToken: String { Self.registrationPrefix + Self.digits(job) + Self.digits(index) }

    private static let registrationPrefix = "recipient:"

    var description: String { "j\(job).json[\(index)]" }

    private static func digits(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
