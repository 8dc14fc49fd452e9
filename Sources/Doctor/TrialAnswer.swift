import APNSHTTP2
import APNSModel
import Document
import Gateways
import PushModel

/// What a gateway answered to one notification, in words.
package struct TrialAnswer: Hashable, Sendable {
    /// What the answer says.
    package enum Kind: String, Hashable, Sendable {
        /// The gateway accepted the notification.
        case accepted
        /// It refused the token or the message.
        case rejected
        /// It refused the app, or cannot be reached: nothing can be sent.
        case fault
        /// It takes the notification later, or has not answered.
        case later
    }

    /// What the answer says.
    package let kind: Kind
    /// The same in a sentence, without the app's name.
    package let message: String
    /// What to do; `nil` if the notification was accepted.
    package let hint: String?
    /// The gateway's refusal.
    private var refusal: Refusal?
    /// The notification's `apns-id`; `nil` if it was not accepted, or the protocol has none.
    private var apnsID: String?
    /// FCM's name of an accepted message, or `apns-unique-id` of Apple's sandbox.
    private var gatewayID: String?

    private init(_ kind: Kind, _ message: String, hint: String?) {
        (self.kind, self.message, self.hint) = (kind, message, hint)
    }

    /// There was no answer in this time.
    static func none(within timeout: Duration) -> TrialAnswer {
        TrialAnswer(
            .later, "no answer within \(timeout.components.seconds) s", hint: "try again, or set a longer --timeout")
    }

    /// Reads an event of the gateway that sends the notification; `nil` if it sends on. `hasIDs`: whether the protocol carries
    /// an `apns-id`.
    init?(_ event: GatewayEvent, hasIDs: Bool) {
        switch event {
        case .settled(let settlements):
            guard let settlement = settlements.first else { return nil }
            self.init(settlement, hasIDs: hasIDs)
        case .stopped(let fault, _), .refusedJob(_, let fault, _):
            self.init(.fault, "the gateway refuses the app: \(fault.message)", hint: fault.hint ?? Self.doctorHint)
        case .troubled(let fault, _): self.init(.later, fault.message, hint: fault.hint ?? "try again later")
        case .disconnected(let report) where report.pause > .zero:
            self.init(.fault, report.fault.message, hint: report.fault.hint ?? Self.doctorHint)
        case .disconnected, .reopened, .withdrawn, .announcing, .paused, .connected, .trying, .resumed,
            .suspectEnvironment:
            return nil
        }
    }

    private static let doctorHint = "run the doctor for this app: it tests each step of the connection"

    private init(_ settlement: Settlement, hasIDs: Bool) {
        switch settlement.outcome {
        case .accepted: self.init(acceptance: settlement, hasIDs: hasIDs)
        case .rejected(let refusal):
            let isOfApp = refusal.verdict == .config
            self.init(
                isOfApp ? .fault : .rejected, "rejected, \(refusal.words): \(refusal.verdict.meaning)",
                hint: refusal.remedy)
            self.refusal = refusal
        case .unsent(let refusal):
            self.init(.later, "not accepted for now, \(refusal.words)", hint: "try again later")
            self.refusal = refusal
        case .expired: self.init(.later, "expired before it was sent", hint: "check this machine's clock")
        case .unknown:
            self.init(
                .later, "the connection ended before the gateway answered: it may have been accepted",
                hint: "look at the device before you try again")
        }
    }

    private init(acceptance settlement: Settlement, hasIDs: Bool) {
        let index = settlement.batch.indices.lowerBound
        self.init(.accepted, "accepted", hint: nil)
        gatewayID = settlement.uniqueIDs[index]
        if hasIDs { apnsID = "\(settlement.batch.id(at: index))" }
    }

    /// The answer in a line for people.
    package var line: String {
        let ids = [apnsID.map { "apns-id \($0)" }, gatewayID.map { apnsID == nil ? $0 : "apns-unique-id \($0)" }]
        return ([message] + ids.compactMap(\.self)).joined(separator: ", ")
    }

    /// The answer as one JSON object and a line feed.
    package func json(of app: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", app)
        writer.member("outcome", kind.rawValue)
        writer.member("apns_id", apnsID)
        writer.member(apnsID == nil ? "message_name" : "apns_unique_id", gatewayID)
        if let status = refusal?.status { writer.member("status", status) }
        writer.member("reason", refusal?.reason)
        writer.member("verdict", refusal?.verdict.rawValue)
        writer.member("message", message)
        writer.member("hint", hint)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension Refusal {
    /// Status, reason and the gateway's text.
    fileprivate var words: String {
        (status.map { "\($0) " } ?? "") + reason + (detail.map { " (\($0))" } ?? "")
    }

    /// What to do about it.
    fileprivate var remedy: String { Reason(name: reason)?.hint ?? verdict.remedy }
}

extension Verdict {
    /// What the gateway means, in plain words.
    fileprivate var meaning: String {
        switch self {
        case .gone: "the token is no longer valid, because the app was removed or has a newer one"
        case .invalid: "the token is malformed, or belongs to another environment, app or project"
        case .message: "the gateway cannot use this message"
        case .config: "the app's configuration is at fault"
        case .later: "the gateway does not take it now"
        }
    }

    /// What to do about it.
    fileprivate var remedy: String {
        switch self {
        case .gone: "use the token that the app reports at its next start, and delete this one"
        case .invalid:
            "copy the token as the device sent it; check environment (sandbox for builds from Xcode, production for "
                + "TestFlight and the App Store), topic, and for FCM the project"
        case .message: "see the reason in pushspool-feedback(5)"
        case .config: "correct the app's file, then run: pushspool check"
        case .later: "try again later"
        }
    }
}
