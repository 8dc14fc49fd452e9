package import PushModel

/// The gateway's number for the reason of a refusal. Unsigned: 255 is not −1. Unknown numbers are preserved.
package struct Status: RawRepresentable, Hashable, Sendable {
    /// The byte on the wire.
    package let rawValue: UInt8

    /// Creates the status with this number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// 0: no error; may be the reply to a bad notification of command 0.
    package static let noError = Status(rawValue: 0)
    /// 1: the gateway failed.
    package static let processingError = Status(rawValue: 1)
    /// 2: the token has no bytes.
    package static let missingDeviceToken = Status(rawValue: 2)
    /// 3: the certificate has no topic.
    package static let missingTopic = Status(rawValue: 3)
    /// 4: the payload has no bytes.
    package static let missingPayload = Status(rawValue: 4)
    /// 5: the token is too long.
    package static let invalidTokenSize = Status(rawValue: 5)
    /// 6: the topic is too long.
    package static let invalidTopicSize = Status(rawValue: 6)
    /// 7: the payload is too long.
    package static let invalidPayloadSize = Status(rawValue: 7)
    /// 8: the token is not valid for this app in this environment.
    package static let invalidToken = Status(rawValue: 8)
    /// 10: the gateway closes for its own reasons; it names the last notification it accepted.
    package static let shutdown = Status(rawValue: 10)
    /// 128: the frame could not be parsed.
    package static let protocolError = Status(rawValue: 128)
    /// 255: unknown.
    package static let unknown = Status(rawValue: 255)

    /// Apple's name for it, spelled as the HTTP/2 reasons are; `Status9` and the like for numbers without one.
    package var reason: String {
        Self.table[self]?.reason ?? "Status\(rawValue)"
    }

    /// The class of the failure; undocumented numbers count as the gateway's fault.
    package var failureClass: FailureClass {
        Self.table[self]?.failureClass ?? .serverError
    }

    /// Whether the named notification was accepted despite the reply.
    package var acceptsNamed: Bool {
        self == .shutdown || self == .noError
    }

    /// Whether the named notification may be retried a few times, because it may not be at fault.
    package var allowsAnotherTry: Bool {
        failureClass == .serverError || self == .protocolError
    }

    private static let table: [Status: (reason: String, failureClass: FailureClass)] = [
        .noError: ("NoError", .retryNow),
        .processingError: ("ProcessingError", .serverError),
        .missingDeviceToken: ("MissingDeviceToken", .token),
        .missingTopic: ("MissingTopic", .app),
        .missingPayload: ("PayloadEmpty", .message),
        .invalidTokenSize: ("InvalidTokenSize", .token),
        .invalidTopicSize: ("InvalidTopicSize", .app),
        .invalidPayloadSize: ("PayloadTooLarge", .message),
        .invalidToken: ("BadDeviceToken", .token),
        .shutdown: ("Shutdown", .retryNow),
        .protocolError: ("ProtocolError", .message),
        .unknown: ("Unknown", .serverError),
    ]

    /// The refusal of the notification that it names.
    package var refusal: Refusal {
        Refusal(status: Int(rawValue), reason: reason, verdict: failureClass.verdict)
    }
}
