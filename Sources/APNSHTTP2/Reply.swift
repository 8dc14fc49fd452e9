package import APNSModel
package import Document
package import PushModel

/// The gateway's answer to one notification.
///
/// Parsing never fails. A refusal is Apple's only if its body is JSON with a reason and, if that says that the token is
/// gone, a time. Anything else comes from a proxy or from a server that is not a push gateway, and says nothing about
/// the token.
package struct Reply: Hashable, Sendable {
    /// The reason in the body.
    package enum Cause: Hashable, Sendable {
        /// A reason of the table. A gateway may send it with another status than Apple.
        case known(Reason)
        /// A name that is not in the table: at most 64 printable ASCII characters.
        case unknown(String)
        /// No reason of Apple's.
        case none
    }

    /// The HTTP status.
    package let status: Int
    /// The reason, if it is a refusal.
    package let cause: Cause
    /// When the gateway learned that the token had become invalid; only with status 410.
    package let goneSince: WallTime?
    /// The beginning of a body that is not Apple's, for a log: at most 100 printable characters, without tokens.
    package let excerpt: String

    /// The longest body that is parsed, in bytes. Apple's have fewer than 100.
    package static let bodyLimit = 4096

    /// Parses an answer.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The complete body; empty for an acceptance.
    ///   - parser: A JSON parser, reusable for many answers.
    package init(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) {
        self.status = status
        guard status != Self.accepted else {
            (cause, goneSince, excerpt) = (.none, nil, "")
            return
        }
        let root = Self.document(in: body, parser: &parser)?.root
        let said = root?["reason"].map(Self.cause) ?? .none
        let isGone = Self.failureClass(of: said, status: status) == .tokenGone
        let time = isGone ? root?["timestamp"].flatMap(Self.time) : nil
        let isGenuine = said != .none && (!isGone || time != nil)
        cause = isGenuine ? said : .none
        goneSince = time
        excerpt = isGenuine ? "" : Self.excerpt(of: body)
    }

    /// Whether the gateway accepted the notification.
    package var isAcceptance: Bool { status == Self.accepted }

    /// Whether the answer is Apple's.
    package var isGenuine: Bool { isAcceptance || cause != .none }

    /// The reason, if it is in the table.
    package var reason: Reason? {
        if case .known(let reason) = cause { reason } else { nil }
    }

    /// The class of the failure; `nil` for an acceptance.
    package var failureClass: FailureClass? {
        isAcceptance ? nil : Self.failureClass(of: cause, status: status)
    }

    /// Whether it reports a failure of the server, or comes from something else than a gateway.
    package var isServerFailure: Bool {
        failureClass == .serverError || failureClass == .retryLater && status >= 500
    }

    /// The reason's name, or `Status502` and the like if there is none.
    package var name: String {
        switch cause {
        case .known(let reason): reason.rawValue
        case .unknown(let name): name
        case .none: "Status\(status)"
        }
    }

    /// The refusal of the notification; `nil` for an acceptance.
    package var refusal: Refusal? {
        failureClass.map {
            Refusal(status: status, reason: name, verdict: $0.verdict, goneSince: goneSince)
        }
    }
}

extension Reply {
    private static let accepted = 200

    /// Parses the reason in the debug data of a GOAWAY frame.
    ///
    /// - Parameters:
    ///   - debug: Usually JSON with a member `reason`. Some gateways send plain text.
    ///   - parser: A JSON parser.
    /// - Returns: `nil` unless it is a reason of the table; log the text in that case.
    package static func reason(ofGoAway debug: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Reason? {
        document(in: debug, parser: &parser)?.root["reason"]?.string.flatMap { Reason(name: $0) }
    }

    private static func document(in body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Tape? {
        guard !body.isEmpty, body.count <= bodyLimit else { return nil }
        do throws(Diagnostic) {
            return try parser.parse(Array(body))
        } catch {
            // The status still determines how to proceed.
            return nil
        }
    }

    /// The class of a failure. A status of 429 or 5xx decides alone if it is not the reason's own. Only a 410 says that a
    /// token is gone: with another status the token is merely refused.
    private static func failureClass(of cause: Cause, status: Int) -> FailureClass {
        switch cause {
        case .none: return .serverError
        case .known(let reason) where reason.status == status: return reason.failureClass
        case .known(let reason) where (400..<500).contains(status) && status != 429:
            return reason.failureClass == .tokenGone ? .token : reason.failureClass
        case .known, .unknown: return FailureClass(status: status)
        }
    }

    private static func cause(in node: Node) -> Cause {
        guard let name = node.string, !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return .none }
        return Reason(name: name).map { .known($0) } ?? .unknown(name)
    }

    /// The longest excerpt, in characters.
    private static let excerptLimit = 100
    /// The number of hexadecimal digits from which on a word may be a token. Error pages often repeat the path.
    private static let tokenDigitCount = 16

    private static func excerpt(of body: ArraySlice<UInt8>) -> String {
        let text = body.prefix(1024).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: " ") }
        var (shown, word) = ([UInt8](), [UInt8]())
        for byte in text + [UInt8(ascii: " ")] {
            if Character(UnicodeScalar(byte)).isHexDigit {
                word.append(byte)
                continue
            }
            shown += word.count < tokenDigitCount ? word : Array("(hidden)".utf8)
            word = []
            // Collapse runs of spaces, since pages are indented.
            if byte != UInt8(ascii: " ") || shown.last != byte { shown.append(byte) }
        }
        let excerpt = shown.prefix(excerptLimit)
        return String(decoding: excerpt.last == UInt8(ascii: " ") ? excerpt.dropLast() : excerpt, as: UTF8.self)
    }

    /// The time of a 410, in milliseconds since 1970; `nil` for anything else.
    private static func time(_ node: Node) -> WallTime? {
        guard let milliseconds = node.integer, milliseconds > 0 else { return nil }
        let (nanoseconds, isTooLate) = Int64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
        return isTooLate ? nil : WallTime(nanoseconds: nanoseconds)
    }
}

extension Reply {
    /// The refusal of the notification, with this verdict.
    func refusal(_ verdict: Verdict) -> Refusal {
        Refusal(status: status, reason: name, verdict: verdict, goneSince: goneSince)
    }
}

extension Refusal {
    /// The reason to give up a notification whose requests were never answered.
    static let unanswered = Refusal(.noAnswer, .later)
    /// The reason to give up a notification whose streams the gateway kept refusing.
    static let refusedStream = Refusal(.refusedStream, .later)
}
