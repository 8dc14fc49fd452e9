package import APNSModel
package import Document

/// The gateway's answer to one notification.
///
/// Reading one never fails. A refusal is Apple's only if its body is JSON and has a reason that goes with the status, and for
/// 410 a time: anything else comes from a proxy, or from a server that is no push gateway, and says nothing about the token.
package struct Reply: Hashable, Sendable {
    /// What the body says.
    package enum Cause: Hashable, Sendable {
        /// A reason of the table, beside its own status.
        case known(Reason)
        /// A word that the table does not have: at most 64 printable ASCII characters.
        case unknown(String)
        /// None that Apple gives.
        case none
    }

    /// The status of HTTP.
    package let status: Int
    /// Why, if it is a refusal.
    package let cause: Cause
    /// When the gateway learned that the token is gone, with status 410 only.
    package let goneSince: WallTime?
    /// How the body begins of a refusal that is not Apple's, for a log: at most 100 printable characters, without tokens.
    package let excerpt: String

    /// The longest body that is looked at, in bytes; Apple's have fewer than 100.
    package static let bodyLimit = 4096

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - status: The status of HTTP.
    ///   - body: The whole body; empty for an acceptance.
    ///   - parser: A parser of JSON; one for many answers.
    package init(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) {
        self.status = status
        guard status != Self.accepted else {
            (cause, goneSince, excerpt) = (.none, nil, "")
            return
        }
        let root = Self.document(in: body, parser: &parser)?.root
        let said: Cause = root?["reason"].map { Self.cause(in: $0, status: status) } ?? .none
        let time = status == Self.gone ? root?["timestamp"].flatMap(Self.time) : nil
        let isGenuine = said != .none && (status != Self.gone || time != nil)
        cause = isGenuine ? said : .none
        goneSince = isGenuine ? time : nil
        excerpt = isGenuine ? "" : Self.excerpt(of: body)
    }

    /// Whether the gateway took the notification.
    package var isAcceptance: Bool { status == Self.accepted }

    /// Whether it is Apple's.
    package var isGenuine: Bool { isAcceptance || cause != .none }

    /// The reason, if it is one of the table.
    package var reason: Reason? {
        if case .known(let reason) = cause { reason } else { nil }
    }

    /// What is at fault; `nil` for an acceptance.
    package var failureClass: FailureClass? {
        guard !isAcceptance else { return nil }
        return isGenuine ? reason?.failureClass ?? FailureClass(status: status) : .serverError
    }

    /// The gateway's word, `Status502` and the like where it has none.
    package var name: String {
        switch cause {
        case .known(let reason): reason.rawValue
        case .unknown(let name): name
        case .none: "Status\(status)"
        }
    }

    /// The refusal it makes of its notification; `nil` for an acceptance.
    package var refusal: Refusal? {
        failureClass.map {
            Refusal(status: status, reason: name, verdict: $0.verdict, goneSince: goneSince)
        }
    }
}

extension Reply {
    private static let accepted = 200
    private static let gone = 410

    /// Reads the reason that a GOAWAY frame carries as debug data.
    ///
    /// - Parameters:
    ///   - debug: JSON with a member `reason`, as a rule; gateways were seen to send plain text, too.
    ///   - parser: A parser of JSON.
    /// - Returns: `nil` unless it is a reason of the table; log the text then.
    package static func reason(ofGoAway debug: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Reason? {
        document(in: debug, parser: &parser)?.root["reason"]?.string.flatMap { Reason(name: $0) }
    }

    private static func document(in body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Tape? {
        guard !body.isEmpty, body.count <= bodyLimit else { return nil }
        do throws(Diagnostic) {
            return try parser.parse(Array(body))
        } catch {
            // Whatever is wrong with it, the status still tells what to do.
            return nil
        }
    }

    private static func cause(in node: Node, status: Int) -> Cause {
        guard let name = node.string, !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return .none }
        guard let reason = Reason(name: name) else { return .unknown(name) }
        return reason.status == status ? .known(reason) : .none
    }

    /// The longest excerpt, in characters.
    private static let excerptLimit = 100
    /// So many hexadecimal digits may be a token: error pages like to repeat the path.
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
            // Pages are indented.
            if byte != UInt8(ascii: " ") || shown.last != byte { shown.append(byte) }
        }
        let excerpt = shown.prefix(excerptLimit)
        return String(decoding: excerpt.last == UInt8(ascii: " ") ? excerpt.dropLast() : excerpt, as: UTF8.self)
    }

    /// Milliseconds since 1970, as 410 tells them; anything else is no time.
    private static func time(_ node: Node) -> WallTime? {
        guard let milliseconds = node.integer, milliseconds > 0 else { return nil }
        let (nanoseconds, isTooLate) = Int64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
        return isTooLate ? nil : WallTime(nanoseconds: nanoseconds)
    }
}

extension Reply {
    /// The refusal it makes of its notification, with this verdict.
    func refusal(_ verdict: Verdict) -> Refusal {
        Refusal(status: status, reason: name, verdict: verdict, goneSince: goneSince)
    }
}

extension Refusal {
    /// Why a notification is given up whose requests were never answered.
    static let unanswered = Refusal(status: nil, reason: "NoAnswer", verdict: .later)
    /// Why one is given up whose streams the gateway refused time and again.
    static let refusedStream = Refusal(status: nil, reason: "RefusedStream", verdict: .later)
}
