import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

/// A registration token, and an installation ID.
let registrationToken = "dQw4w9WgXcQ-_AbCdEfGhI:APA91bFx"
let installationID = "dQw4w9WgXcQ-_AbCdEfGhI"

/// Reads a JSON document of an FCM app: members of the document, beside one token.
func message(_ members: String, _ context: JobContext = context(.fcm)) -> ReadJob {
    json("{\"token\":\"\(registrationToken)\",\(members)}", context)
}

/// The payload that a job compiles to, with `\u{01}` written as `N`.
func sent(_ job: ReadJob) -> [String] { job.payloads.map { $0.replacing("\u{01}", with: "N") } }

/// The diagnostics of a job as `path: message; hint`, without their places.
func complaints(_ job: ReadJob) -> [String] { job.diagnostics.map(\.description) }

struct MessageTests {
    @Test func `a payload goes out as it was written, and gets the time to live`() throws {
        let job = message(
            """
            "payload": { "data" : {"b": "2", "a": "\\u00e9"}, "notification": {"title": "Storm"} , "fcmOptions": {}}
            """)
        #expect(job.lines == [])
        #expect(
            sent(job) == [
                #"{"data":{"b":"2","a":"\u00e9"},"notification":{"title":"Storm"},"fcmOptions":{},"android":{"ttl":"Ns"}}"#
                    .withoutBraces
            ])
        var attributes = Attributes(expiration: Expiration(epochSeconds: noon.epochSeconds + 28 * 86_400))
        attributes.addressKind = .registrationToken
        #expect(job.sent.map(\.attributes) == [attributes] && job.sent.map(\.token) == [registrationToken])
    }

    @Test(arguments: [
        #""payload":{"notification":{"title":"T"},"data":{"a":"1"}}"#,
        #""payload":"{\"notification\":{\"title\":\"T\"}, \"data\":{\"a\":\"1\"}}""#,
        #""data":{"a":"1"},"notification":{"title":"T"}"#,
        #""alert":{"title":"T"},"custom":{"a":1}"#,
    ])
    func `three ways to write a message make the same bytes`(members: String) {
        let job = message(members)
        #expect(sent(job) == [#"{"notification":{"title":"T"},"data":{"a":"1"},"android":{"ttl":"Ns"}}"#.withoutBraces])
        #expect(job.lines == [])
    }

    @Test(arguments: [
        (#""alert":"B""#, #"{"notification":{"body":"B"}"#),
        (#""alert":{"title":"T","body":null}"#, #"{"notification":{"title":"T"}"#),
        (#""alert":"B","image":"https://e.x/i""#, #"{"notification":{"body":"B","image":"https://e.x/i"}"#),
        (
            #""alert":{"title-loc-key":"K","title-loc-args":["x"],"loc-key":"L","loc-args":[]}"#,
            #"{"android":{"notification":{"title_loc_key":"K","title_loc_args":["x"],"body_loc_key":"L","body_loc_args":[]},"ttl":"Ns"}"#
        ),
        (
            ##""badge":3,"sound":"s","channel_id":"c","tag":"t","icon":"i","color":"#ff8000","click_action":"a""##,
            ##"{"android":{"notification":{"notification_count":3,"sound":"s","channel_id":"c","tag":"t","icon":"i","color":"#ff8000","click_action":"a"},"ttl":"Ns"}"##
        ),
        (
            #""custom":{"i":9007199254740993,"f":1.0,"t":true,"s":"x\ny","n":null,"m":{"a": [1, "q"]}}"#,
            #"{"data":{"i":"9007199254740993","f":"1.0","t":"true","s":"x\ny","m":"{\"a\":[1,\"q\"]}"}"#
        ),
    ])
    func `shorthands make the members that their names say`(shorthands: String, start: String) {
        let job = message(shorthands)
        #expect(job.lines == [])
        let whole = start.contains(#""ttl""#) ? start + "}" : start + #","android":{"ttl":"Ns"}}"#
        #expect(sent(job) == [whole.withoutBraces])
    }

    @Test func `in YAML a scalar is text where FCM wants text`() {
        let job = yaml(
            """
            token: \(registrationToken)
            notification: {title: 1984, body: yes}
            data: {order: 17, on: true}
            android: {ttl: 60s, notification: {sticky: true, notification_count: 0x10, body_loc_key: k, body_loc_args: [1]}}
            """, context(.fcm))
        #expect(job.lines == [])
        #expect(
            sent(job) == [
                (#"{"notification":{"title":"1984","body":"yes"},"data":{"order":"17","on":"true"},"android":{"ttl":"Ns","#
                    + #""notification":{"sticky":true,"notification_count":16,"body_loc_key":"k","body_loc_args":["1"]}}}"#)
                    .withoutBraces
            ])
    }

    @Test func `in YAML a value of custom is sent as it stands in the file`() {
        let job = yaml(
            "token: \(registrationToken)\ncustom: {a: 0x1F, b: .inf, c: ~, d: [0x1F, no], e: \"17\"}\n", context(.fcm))
        #expect(job.lines == [])
        #expect(
            sent(job) == [
                #"{"data":{"a":"0x1F","b":".inf","d":"[31,\"no\"]","e":"17"},"android":{"ttl":"Ns"}}"#.withoutBraces
            ])
    }

    @Test func `a member that FCM is not known to have is sent if the app says so`() {
        var context = context(.fcm)
        context.toleratesUnknownFields = true
        let job = message(#""payload":{"beam":[1, 2],"android":{"warp":9}}"#, context)
        #expect(sent(job) == [#"{"beam":[1,2],"android":{"warp":9,"ttl":"Ns"}}"#.withoutBraces])
        #expect(
            complaints(job) == [
                "payload: FCM has no member `beam` here", "payload.android: FCM has no member `warp` here",
            ])
        #expect(job.diagnostics.allSatisfy { $0.severity == .warning })
    }
}

extension String {
    /// An object's text without its braces: what stands between the address of a message and its end.
    var withoutBraces: String { String(dropFirst().dropLast()) }
}
