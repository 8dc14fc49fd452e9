package import APNSModel
package import Document
package import PushHTTP2
import PushModel

extension Reply {
    /// The reason in the body of an answer.
    private enum Cause {
        /// A reason of the table. A gateway may send it with another status than Apple.
        case known(Reason)
        /// A name that is not in the table: at most 64 printable ASCII characters.
        case unknown(String)
    }

    private static let accepted = 200
    /// The longest body that is parsed, in bytes. Apple's have fewer than 100.
    private static let bodyLimit = 4096

    /// Reads an answer of Apple's. Never fails: a refusal is Apple's only if its body is JSON with a reason and, if that
    /// says that the token is gone, a time.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The complete body; empty for an acceptance.
    ///   - parser: A JSON parser, reusable for many answers.
    package init(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) {
        guard status != Self.accepted else {
            self.init(status: status, word: nil, nil)
            return
        }
        let root = parser.document(in: body, limit: Self.bodyLimit)?.root
        let cause = root?["reason"].flatMap(Self.cause)
        let failureClass = Self.failureClass(of: cause, status: status)
        let time = failureClass == .tokenGone ? root?["timestamp"].flatMap(Self.time) : nil
        guard let cause, failureClass != .tokenGone || time != nil else {
            self.init(status: status, word: nil, .serverError)
            excerpt = Self.excerpt(of: body) { Character(UnicodeScalar($0)).isHexDigit }
            return
        }
        switch cause {
        case .known(let reason):
            self.init(status: status, word: reason.rawValue, failureClass)
            (concerns, hint) = (reason.concerns, reason.hint)
        case .unknown(let name):
            self.init(status: status, word: name, failureClass)
            if name == LocalReason.ownDoor.rawValue { hint = Self.ownDoorHint }
        }
        goneSince = time
    }

    private static let ownDoorHint =
        "this spool's own door answered: let `gateway`, and this host's name service, lead to Apple instead"

    /// The reason, if it is in Apple's tables.
    package var reason: Reason? { word.flatMap { Reason(name: $0) } }

    /// Reads the reason in the debug data of a GOAWAY frame.
    ///
    /// - Parameters:
    ///   - debug: Usually JSON with a member `reason`. Some gateways send plain text.
    ///   - parser: A JSON parser.
    /// - Returns: `nil` unless it is a reason of the table; log the text in that case.
    package static func reason(ofGoAway debug: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Reason? {
        parser.document(in: debug, limit: bodyLimit)?.root["reason"]?.string.flatMap { Reason(name: $0) }
    }

    /// The class of a failure. A status of 429 or 5xx decides alone if it is not the reason's own. Only a 410 says that a
    /// token is gone: with another status the token is merely refused.
    private static func failureClass(of cause: Cause?, status: Int) -> FailureClass {
        switch cause {
        case nil: return .serverError
        case .known(let reason) where reason.status == status: return reason.failureClass
        case .known(let reason) where (400..<500).contains(status) && status != 429:
            return reason.failureClass == .tokenGone ? .token : reason.failureClass
        case .known, .unknown: return FailureClass(status: status)
        }
    }

    private static func cause(in node: Node) -> Cause? {
        guard let name = node.string, !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return Reason(name: name).map { .known($0) } ?? .unknown(name)
    }

    /// The time of a 410, in milliseconds since 1970; `nil` for anything else.
    private static func time(_ node: Node) -> WallTime? {
        guard let milliseconds = node.integer, milliseconds > 0 else { return nil }
        let (nanoseconds, isTooLate) = Int64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
        return isTooLate ? nil : WallTime(nanoseconds: nanoseconds)
    }
}
