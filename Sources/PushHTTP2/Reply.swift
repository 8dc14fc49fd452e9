package import PushModel

/// A gateway's answer to one notification.
///
/// A refusal counts as the gateway's only if it has the gateway's form. Anything else comes from a proxy or from a server
/// that is not a push gateway, and says nothing about the address.
package struct Reply: Hashable, Sendable {
    /// What a refusal is about, as far as its class does not say it.
    package struct Concerns: OptionSet, Hashable, Sendable {
        /// The bits.
        package let rawValue: UInt8

        /// Creates a set of concerns.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The topic: the job's fault if the job sets its own.
        package static let topic = Concerns(rawValue: 1 << 0)
        /// The app's right to broadcast, which says nothing about its other notifications.
        package static let broadcasting = Concerns(rawValue: 1 << 1)
        /// What the gateway may take on a connection that is opened later.
        package static let connection = Concerns(rawValue: 1 << 2)
        /// The value of `authorization`, which has expired: another one helps.
        package static let authorization = Concerns(rawValue: 1 << 3)
        /// How often the value of `authorization` changed.
        package static let authorizationChanges = Concerns(rawValue: 1 << 4)
        /// The app's credentials, if the same answer comes again.
        package static let credentials = Concerns(rawValue: 1 << 5)
        /// How many notifications the app may send.
        package static let quota = Concerns(rawValue: 1 << 6)
    }

    /// The HTTP status.
    package let status: Int
    /// The gateway's word for the reason; `nil` if the answer is an acceptance, or is not the gateway's.
    package let word: String?
    /// The class of the failure; `nil` for an acceptance.
    package let failureClass: FailureClass?
    /// What it is about.
    package var concerns: Concerns = []
    /// The verdict, if it is another than that of the class.
    package var verdict: Verdict?
    /// When the gateway learned that the address had become invalid, if it says so.
    package var goneSince: WallTime?
    /// The gateway's text about a message that it refuses, at most 300 bytes; `nil` if it has none.
    package var detail: String?
    /// The remedy for the operator, if the app is to blame.
    package var hint: String?
    /// The beginning of a body that is not the gateway's, for a log: at most 100 printable characters, without addresses.
    package var excerpt = ""

    /// Creates an answer of the gateway's, or with `word` `nil` an acceptance, or an answer of another server.
    package init(status: Int, word: String?, _ failureClass: FailureClass?) {
        (self.status, self.word, self.failureClass) = (status, word, failureClass)
    }

    /// Whether the gateway accepted the notification.
    package var isAcceptance: Bool { failureClass == nil }

    /// Whether the answer is the gateway's.
    package var isGenuine: Bool { isAcceptance || word != nil }

    /// Whether it reports a failure of the server, or comes from something else than a gateway.
    package var isServerFailure: Bool {
        failureClass == .serverError || failureClass == .retryLater && status >= 500
    }

    /// The reason's name, or `Status502` and the like if there is none.
    package var name: String { word ?? "Status\(status)" }

    /// The refusal of the notification; `nil` for an acceptance.
    package var refusal: Refusal? { failureClass.map { refusal(verdict ?? $0.verdict) } }

    /// The refusal of the notification, with this verdict.
    func refusal(_ verdict: Verdict) -> Refusal {
        var refusal = Refusal(status: status, reason: name, verdict: verdict, goneSince: goneSince)
        refusal.detail = detail
        return refusal
    }
}

extension Reply {
    /// The longest excerpt, in characters.
    private static let excerptLimit = 100
    /// The number of characters from which on a word may be an address. Error pages often repeat the path.
    private static let addressCharacterCount = 16

    /// The beginning of a body for a log: printable, with one space for many, and without what may be an address.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - isOfAddress: Whether a character may be part of an address.
    /// - Returns: At most 100 characters.
    package static func excerpt(of body: ArraySlice<UInt8>, hiding isOfAddress: (UInt8) -> Bool) -> String {
        let text = body.prefix(1024).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: " ") }
        var (shown, word) = ([UInt8](), [UInt8]())
        for byte in text + [UInt8(ascii: " ")] {
            if isOfAddress(byte) {
                word.append(byte)
                continue
            }
            shown += word.count < addressCharacterCount ? word : Array("(hidden)".utf8)
            word = []
            // Collapse runs of spaces, since pages are indented.
            if byte != UInt8(ascii: " ") || shown.last != byte { shown.append(byte) }
        }
        let excerpt = shown.prefix(excerptLimit)
        return String(decoding: excerpt.last == UInt8(ascii: " ") ? excerpt.dropLast() : excerpt, as: UTF8.self)
    }
}

extension Refusal {
    /// The reason to give up a notification whose requests were never answered.
    static let unanswered = Refusal(.noAnswer, .later)
    /// The reason to give up a notification whose streams the gateway kept refusing.
    static let refusedStream = Refusal(.refusedStream, .later)
}
