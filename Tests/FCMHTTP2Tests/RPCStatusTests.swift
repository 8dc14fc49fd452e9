import FCMHTTP2
import JSON
import PushHTTP2
import PushModel
import Testing

/// What FCM's refusals mean: each error that is documented or was observed has a row.
struct RPCStatusTests {
    /// A refusal, and what it means.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let body: String
        let word: String?
        let failureClass: FailureClass
        var verdict: Verdict?
        var concerns: Reply.Concerns = []
        var detail: String?
        var hintWord: String?

        var testDescription: String { name }
    }

    private static let prefix = "type.googleapis.com/google"

    private static func error(_ status: Int, _ word: String, _ message: String, _ details: [String] = []) -> String {
        "{\"error\":{\"code\":\(status),\"message\":\"\(message)\",\"status\":\"\(word)\""
            + (details.isEmpty ? "" : ",\"details\":[\(details.joined(separator: ","))]") + "}}"
    }

    private static func fcm(_ code: String) -> String {
        "{\"@type\":\"\(prefix).firebase.fcm.v1.FcmError\",\"errorCode\":\"\(code)\"}"
    }

    private static func field(_ name: String) -> String {
        "{\"@type\":\"\(prefix).rpc.BadRequest\",\"fieldViolations\":[{\"field\":\"\(name)\",\"description\":\"x\"}]}"
    }

    private static func info(_ reason: String) -> String {
        "{\"@type\":\"\(prefix).rpc.ErrorInfo\",\"reason\":\"\(reason)\",\"domain\":\"googleapis.com\"}"
    }

    private static func quota(_ subject: String) -> String {
        "{\"@type\":\"\(prefix).rpc.QuotaFailure\",\"violations\":[{\"subject\":\"\(subject)\"}]}"
    }

    private static let badToken = "The registration token is not a valid FCM registration token"
    private static let garbled = "Request had invalid authentication credentials."

    static let rows: [Row] = [
        Row(
            name: "unregistered", status: 404,
            body: error(404, "NOT_FOUND", "Requested entity was not found.", [fcm("UNREGISTERED")]),
            word: "UNREGISTERED", failureClass: .tokenGone, verdict: .gone),
        Row(
            name: "no target", status: 400,
            body: error(
                400, "INVALID_ARGUMENT", "Recipient of the message is not set.",
                [field("message"), fcm("INVALID_ARGUMENT")]),
            word: "INVALID_ARGUMENT", failureClass: .message, verdict: .message,
            detail: "Recipient of the message is not set."),
        Row(
            name: "malformed token, by its text", status: 400,
            body: error(400, "INVALID_ARGUMENT", badToken, [fcm("INVALID_ARGUMENT")]),
            word: "INVALID_ARGUMENT", failureClass: .token, verdict: .invalid),
        Row(
            name: "malformed token, by its field", status: 400,
            body: error(
                400, "INVALID_ARGUMENT", "Invalid registration", [fcm("INVALID_ARGUMENT"), field("message.token")]),
            word: "INVALID_ARGUMENT", failureClass: .token, verdict: .invalid),
        Row(
            name: "unknown member", status: 400,
            body: error(
                400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name 'toen' at 'message'",
                [field("message")]),
            word: "INVALID_ARGUMENT", failureClass: .message, verdict: .message,
            detail: "Invalid JSON payload received. Unknown name 'toen' at 'message'"),
        Row(
            name: "bad condition", status: 400,
            body: error(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
            word: "INVALID_ARGUMENT", failureClass: .message, verdict: .message,
            detail: "Request contains an invalid argument."),
        Row(
            name: "no credentials", status: 401,
            body: error(401, "UNAUTHENTICATED", garbled, [info("CREDENTIALS_MISSING")]), word: "CREDENTIALS_MISSING",
            failureClass: .retryNow, concerns: [.authorization, .credentials], hintWord: "key"),
        Row(
            name: "token garbled", status: 401, body: error(401, "UNAUTHENTICATED", garbled), word: "UNAUTHENTICATED",
            failureClass: .retryNow, concerns: [.authorization, .credentials], hintWord: "key"),
        Row(
            name: "token expired", status: 401,
            body: error(401, "UNAUTHENTICATED", garbled, [info("ACCESS_TOKEN_EXPIRED")]), word: "ACCESS_TOKEN_EXPIRED",
            failureClass: .retryNow, concerns: [.authorization, .credentials], hintWord: "clock"),
        Row(
            name: "Apple's key in the console", status: 401,
            body: error(401, "UNAUTHENTICATED", "Auth error from APNS", [fcm("THIRD_PARTY_AUTH_ERROR")]),
            word: "THIRD_PARTY_AUTH_ERROR", failureClass: .message, verdict: .config, hintWord: "console"),
        Row(
            name: "its former name", status: 401,
            body: error(401, "UNAUTHENTICATED", "Auth error from APNS", [fcm("APNS_AUTH_ERROR")]),
            word: "APNS_AUTH_ERROR", failureClass: .message, verdict: .config, hintWord: "console"),
        Row(
            name: "API not enabled", status: 403,
            body: error(
                403, "PERMISSION_DENIED",
                "Firebase Cloud Messaging API has not been used in project 17 before or it is disabled.",
                [info("SERVICE_DISABLED")]),
            word: "SERVICE_DISABLED", failureClass: .app, verdict: .config, hintWord: "enable"),
        Row(
            name: "no right", status: 403,
            body: error(
                403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied",
                [info("IAM_PERMISSION_DENIED")]),
            word: "IAM_PERMISSION_DENIED", failureClass: .app, verdict: .config, hintWord: "role"),
        Row(
            name: "other sender", status: 403,
            body: error(403, "PERMISSION_DENIED", "SenderId mismatch", [fcm("SENDER_ID_MISMATCH")]),
            word: "SENDER_ID_MISMATCH", failureClass: .token, verdict: .invalid),
        Row(
            name: "404 without FCM's code", status: 404, body: error(404, "NOT_FOUND", "Method not found."),
            word: "NOT_FOUND", failureClass: .app, verdict: .config),
        Row(
            name: "UNREGISTERED beside another status", status: 400,
            body: error(400, "INVALID_ARGUMENT", "x", [fcm("UNREGISTERED")]), word: "UNREGISTERED",
            failureClass: .message, verdict: .message, detail: "x"),
        Row(
            name: "quota of the project", status: 429,
            body: error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", [fcm("QUOTA_EXCEEDED")]),
            word: "QUOTA_EXCEEDED", failureClass: .retryLater, concerns: .quota),
        Row(
            name: "quota without FCM's code", status: 429, body: error(429, "RESOURCE_EXHAUSTED", "Quota exceeded."),
            word: "RESOURCE_EXHAUSTED", failureClass: .retryLater, concerns: .quota),
        Row(
            name: "quota of a topic", status: 429,
            body: error(429, "RESOURCE_EXHAUSTED", "Topic quota exceeded.", [fcm("QUOTA_EXCEEDED")]),
            word: "QUOTA_EXCEEDED", failureClass: .retryLater),
        Row(
            name: "quota of a device", status: 429,
            body: error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", [quota("device:1"), fcm("QUOTA_EXCEEDED")]),
            word: "QUOTA_EXCEEDED", failureClass: .retryLater),
        Row(
            name: "internal", status: 500, body: error(500, "INTERNAL", "Internal error.", [fcm("INTERNAL")]),
            word: "INTERNAL", failureClass: .serverError),
        Row(
            name: "unavailable", status: 503, body: error(503, "UNAVAILABLE", "x", [fcm("UNAVAILABLE")]),
            word: "UNAVAILABLE", failureClass: .retryLater),
        Row(
            name: "too large", status: 413, body: error(413, "INVALID_ARGUMENT", "x"), word: "INVALID_ARGUMENT",
            failureClass: .message, verdict: .message, detail: "x"),
        Row(
            name: "unknown code", status: 409, body: error(409, "ABORTED", "x", [fcm("MOON_TOO_FULL")]),
            word: "MOON_TOO_FULL", failureClass: .message, verdict: .message, detail: "x"),
    ]

    private func reply(_ status: Int, _ body: String) -> Reply {
        var parser = JSON.Parser()
        return FCMDialect(authority: "localhost", project: "weather", authorization: nil)
            .reply(status: status, body: Array(body.utf8)[...], parser: &parser)
    }

    @Test(arguments: rows) func `an error means one thing`(row: Row) {
        let reply = reply(row.status, row.body)
        #expect(reply.isGenuine && reply.word == row.word && reply.failureClass == row.failureClass)
        #expect(reply.refusal?.verdict == row.verdict ?? row.failureClass.verdict)
        #expect(reply.concerns == row.concerns && reply.detail == row.detail && reply.goneSince == nil)
        if let word = row.hintWord { #expect(reply.hint?.contains(word) == true, "\(reply.hint ?? "no hint")") }
    }

    @Test(arguments: [
        "", "{", "null", "[]", "<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>", "{}", "{\"error\":{}}",
        "{\"error\":\"not_found\"}", "{\"error\":{\"code\":404}}", "{\"error\":{\"code\":404,\"status\":\"\"}}",
        "{\"error\":{\"code\":418,\"status\":\"NOT_FOUND\"}}", "{\"reason\":\"Unregistered\"}",
        "{\"error\":{\"code\":404,\"status\":\"NOT FOUND\"}}",
    ])
    func `a body that is not Google's says nothing about the address, whatever the status`(body: String) {
        for status in [301, 400, 401, 403, 404, 410] {
            let reply = reply(status, body)
            #expect(!reply.isGenuine && reply.failureClass == .serverError && reply.name == "Status\(status)")
        }
    }

    @Test(arguments: [
        (413, FailureClass.message, Reply.Concerns()), (429, .retryLater, .quota),
        (500, .serverError, Reply.Concerns()),
        (502, .serverError, Reply.Concerns()), (503, .serverError, Reply.Concerns()),
    ])
    func `a page of the front end goes by its status`(
        status: Int, failureClass: FailureClass, concerns: Reply.Concerns
    ) {
        for body in ["", "<html>Error</html>"] {
            let reply = reply(status, body)
            #expect(reply.isGenuine && reply.name == "HTTP\(status)" && reply.failureClass == failureClass)
            #expect(reply.concerns == concerns)
        }
    }

    @Test(arguments: [(502, false), (503, false), (404, true), (403, true)])
    func `an app stops after many pages of another server, not after those of Google's front end`(
        status: Int, stops: Bool
    ) {
        let batch = Batch(
            header: Batch.Header(job: JobID(bits: 1), attributes: Attributes()), firstIndex: 0,
            addresses: PackedBytes(), payloads: .shared(Payload(bytes: [])))
        var (news, watch) = (SessionNews(), TroubleWatch())
        news.refused = [SessionNews.Refused(batch: batch, reply: reply(status, "<html>Error \(status)</html>"))]
        let stopping = (0..<20).compactMap { watch.record(news, at: .zero + .seconds(4 * $0)).stopping }
        #expect(stopping.isEmpty == !stops)
    }

    @Test func `an excerpt of a page shows no token`() {
        let token = "dQw4w9WgXcQ:APA91b" + String(repeating: "aB3-", count: 30)
        let excerpt = reply(404, "<html><h1>Error 404</h1> \(token)").excerpt
        #expect(excerpt.hasPrefix("<html><h1>Error 404</h1> (hidden)") && !excerpt.contains("aB3"))
    }

    @Test func `a detail is cut at the end of a character`() {
        let text = String(repeating: "ä", count: 200)
        let detail = reply(400, Self.error(400, "INVALID_ARGUMENT", text)).detail
        #expect(detail == String(repeating: "ä", count: 150))
    }
}
