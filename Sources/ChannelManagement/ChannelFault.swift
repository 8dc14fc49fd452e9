import APNSHTTP2
import APNSModel
import Gateways
import LinuxIO
import PushHTTP2
import PushModel

/// Why a command about channels failed.
package struct ChannelFault: Error, Hashable, Sendable {
    /// Who can do something about it.
    package enum Kind: Hashable, Sendable {
        /// The caller: the command names something that does not exist or is not valid.
        case input
        /// The administrator: configuration, credentials, permissions, or the app's settings at Apple.
        case configuration
        /// Nobody now: a later attempt may succeed.
        case later
    }

    /// What went wrong.
    package let message: String
    /// How to fix it.
    package let hint: String?
    /// Who can fix it.
    package let kind: Kind

    init(_ kind: Kind, _ message: String, hint: String?) {
        (self.kind, self.message, self.hint) = (kind, message, hint)
    }

    /// Creates the fault of a request that the gateway refused.
    init(_ reply: Reply) {
        let failure = reply.reason?.failureClassWhenRepeated ?? reply.failureClass
        let excerpt = reply.excerpt.isEmpty ? "" : ": \(reply.excerpt)"
        self.init(
            Self.kind(of: failure), "the gateway refused: \(reply.name) (\(reply.status))\(excerpt)",
            hint: Self.hint(for: reply, failure))
    }

    /// Creates the fault of a request that got no answer.
    init(_ fault: RequestFault) {
        self.init(
            .later, fault.cause.message,
            hint: fault.cause.hint ?? "check channel_gateway, proxy and the network, then repeat the command")
    }

    /// Creates the fault of a channel file that cannot be read or changed.
    init(_ error: SystemError) {
        let isPermission = error.isPermission
        let hint = isPermission ? "run this as a user who may change that folder" : "check that folder and its volume"
        self.init(isPermission ? .configuration : .later, "\(error)", hint: hint)
    }

    private static func kind(of failure: FailureClass?) -> Kind {
        switch failure {
        case .app: .configuration
        case .message, .token, .tokenGone: .input
        case .retryNow, .retryLater, .serverError, nil: .later
        }
    }

    private static func hint(for reply: Reply, _ failure: FailureClass?) -> String {
        switch reply.reason {
        case .channelNotRegistered, .badChannelID:
            "see `pushspool channel list`; a channel belongs to one app and one environment"
        case .some(let reason): reason.hint ?? (kind(of: failure) == .later ? later : page)
        case nil: kind(of: failure) == .later ? later : page
        }
    }

    private static let later = "repeat the command in some minutes"
    private static let page = "see Apple's page \"Handling error responses from Apple Push Notification service\""
}
