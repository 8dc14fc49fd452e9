import Testing

@testable import FCMServing

/// Errors as bytes.
struct GoogleErrorTests {
    @Test func `an error is written as Google writes it`() {
        #expect(
            String(decoding: IndentedJSON.bytes(ofCompact: GoogleError.unregistered.json), as: UTF8.self) == """
                {
                  "error": {
                    "code": 404,
                    "message": "Requested entity was not found.",
                    "status": "NOT_FOUND",
                    "details": [
                      {
                        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                        "errorCode": "UNREGISTERED"
                      }
                    ]
                  }
                }

                """)
    }

    @Test(arguments: [
        (#"{"a":"{\"[,:"}"#, "{\n  \"a\": \"{\\\"[,:\"\n}\n"), ("{}", "{}\n"), (#"{"a":[]}"#, "{\n  \"a\": []\n}\n"),
        (#"{"a":"\\","b":1}"#, "{\n  \"a\": \"\\\\\",\n  \"b\": 1\n}\n"),
    ])
    func `JSON is indented and its strings stay as they are`(compact: String, indented: String) {
        #expect(String(decoding: IndentedJSON.bytes(ofCompact: Array(compact.utf8)), as: UTF8.self) == indented)
    }

    @Test(arguments: [
        (GoogleError.unregistered, 404, "UNREGISTERED"), (.senderIDMismatch, 403, "SENDER_ID_MISMATCH"),
        (.thirdPartyAuthError, 401, "THIRD_PARTY_AUTH_ERROR"), (.accessTokenExpired, 401, "ACCESS_TOKEN_EXPIRED"),
        (.credentialsInvalid, 401, "UNAUTHENTICATED"),
        (.permissionDenied(inProject: "p"), 403, "IAM_PERMISSION_DENIED"),
        (.quotaExceeded(.topic, of: "news"), 429, "QUOTA_EXCEEDED"), (.invalidArgument, 400, "INVALID_ARGUMENT"),
        (.named("NEVER_HEARD_OF", inProject: "p").with(code: 418), 418, "NEVER_HEARD_OF"),
    ])
    func `the most specific name of an error is its reason`(error: GoogleError, code: Int, reason: String) {
        #expect(error.code == code && error.reason == reason)
    }

    @Test func `a quota names what has used it up`() {
        let json = String(decoding: GoogleError.quotaExceeded(.device, of: "abc").json, as: UTF8.self)
        #expect(
            json.hasSuffix(
                #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"device:abc","description":"Device message rate quota exceeded."}]}]}}"#
            ))
    }
}
