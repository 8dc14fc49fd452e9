import JSON
import Testing

@testable import FCMHTTP2

/// What the answers of a token endpoint mean.
struct AccessTokenReplyTests {
    private func reply(_ status: Int, _ body: String) -> AccessTokenReply {
        var parser = JSON.Parser()
        return AccessTokenReply(status: status, body: Array(body.utf8)[...], parser: &parser)
    }

    @Test func `a token comes with its lifetime`() {
        let body = #"{"access_token":"ya29.c.x","expires_in":3599,"token_type":"Bearer"}"#
        #expect(reply(200, body) == .granted("ya29.c.x", lifetime: 3599))
    }

    @Test(arguments: [
        (400, "invalid_grant", "Invalid JWT Signature.", "the key was deleted"),
        (
            400, "invalid_grant",
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp"
                + " values in the JWT claim.", "set this machine's clock"
        ),
        (400, "invalid_grant", "Invalid grant: account not found", "deleted or disabled"),
        (400, "invalid_grant", "", "check this machine's clock and the service account"),
        (400, "invalid_scope", "", "check proxy: and token_gateway:"),
        (400, "invalid_request", "", "check proxy: and token_gateway:"),
        (400, "unsupported_grant_type", "Invalid grant_type", "check proxy: and token_gateway:"),
        (401, "unauthorized_client", "", "disabled or may not ask"),
        (401, "invalid_client", "", "disabled or may not ask"),
        (403, "access_denied", "", "check the service account"),
    ])
    func `a refusal blames the account, its key or the clock`(
        status: Int, error: String, description: String, hint: String
    ) {
        guard
            case .refused(let refusal) = reply(
                status, "{\"error\":\"\(error)\",\"error_description\":\"\(description)\"}")
        else {
            Issue.record("not a refusal")
            return
        }
        #expect(refusal.hint.contains(hint) && refusal.message.contains("`\(error)`"))
        #expect(refusal.message.contains(description.prefix(60)))
    }

    @Test(arguments: [
        (429, #"{"error":"rate_limit_exceeded"}"#), (500, #"{"error":"internal_failure"}"#), (503, ""),
        (502, "<html>Error 502 (Server Error)!!1</html>"), (404, "<html>not found</html>"), (400, "{\"error\":{}}"),
        (403, "<html>the proxy forbids</html>"), (302, ""), (200, "<html>log in first</html>"), (200, "{}"),
        (200, #"{"access_token":"x","expires_in":3599,"token_type":"mac"}"#),
        (200, #"{"access_token":"x","token_type":"Bearer"}"#), (200, #"{"access_token":"x","expires_"#),
        (400, #"{"error":"\#(String(repeating: "x", count: 20_000))"}"#),
    ])
    func `other answers are failures that may pass`(status: Int, body: String) {
        guard case .failed(let message) = reply(status, body) else {
            Issue.record("not a failure")
            return
        }
        #expect(message.hasPrefix("status \(status)"))
    }
}
