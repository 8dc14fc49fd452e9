import FCMServing
import PushModel

@testable import GatewaySimulator

/// A project, and requests to FCM for a test to change.
enum FCMSample {
    static let project = FCMProject(
        id: "weather-4711", number: 4711, clientEmail: "sender@weather-4711.iam.gserviceaccount.com", keyID: "k",
        publicKey: [])
    static let token = "cXz1AbCdEfGhIjKlMnOpQr:APA91bH"
    static let accessToken = "ya29.c.sample"

    /// A gateway that has given the project's account an access token. It knows no key.
    static func state(_ rules: FCMRules, script: String = "", lifetime: Duration = .seconds(3600)) throws
        -> GatewayState
    {
        var rules = rules
        if rules.projects.isEmpty { rules.projects = [project] }
        var state = GatewayState(
            rules: GatewayRules(), ledger: Ledger(), feedback: FeedbackList(), manners: [.fcm: .fcm])
        state.fcm = FCMState(rules)
        let now = WallTime(epochSeconds: RequestBench.epochSeconds)
        state.fcm.tokens.insert(
            Array(accessToken.utf8),
            .init(account: project.clientEmail, coversSending: true, expiration: now + lifetime), at: now)
        state.start(try FaultScript(script))
        return state
    }

    /// A connection to such a gateway.
    static func bench(_ rules: FCMRules = FCMRules(), script: String = "") throws -> RequestBench {
        RequestBench(try state(rules, script: script), serving: FCMAPI())
    }

    /// A message to a target.
    static func message(
        _ target: String = token, as member: String = "token", more: String = #","data":{"a":"1"}"#
    ) -> SampleRequest {
        var request = SampleRequest()
        request.fields = [
            (":method", "POST"), (":scheme", "https"), (":authority", "fcm.googleapis.com"),
            (":path", "/v1/projects/weather-4711/messages:send?prettyPrint=false"),
            ("authorization", "Bearer " + accessToken), ("content-type", "application/json"),
        ]
        return request.with(body: #"{"message":{"\#(member)":"\#(target)"\#(more)}}"#)
    }
}
