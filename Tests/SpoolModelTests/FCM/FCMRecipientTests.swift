import APNSModel
import Document
import JobFormat
import PushModel
import Testing

struct FCMRecipientTests {
    private func kinds(_ job: ReadJob) -> [[Address.Kind]] {
        job.chunks.map { $0.batches.map(\.attributes.addressKind) }
    }

    @Test func `tokens share one batch, whatever their lengths`() {
        let tokens = [20, 142, 163, 1024].map { String(repeating: "aZ0_-:", count: 171).prefix($0) }
        let job = json("{\"tokens\":[\"\(tokens.joined(separator: "\",\""))\"],\"data\":{}}", context(.fcm))
        #expect(job.sent.map(\.token) == tokens.map(String.init) && job.lines == [])
        #expect(kinds(job) == [[.registrationToken]])
        #expect(job.chunks.first?.batches.first?.sharedPayload != nil)
    }

    @Test func `tokens go before installations, each in a batch of its kind`() {
        let text = """
            {"fids": ["\(installationID)"], "tokens": ["\(registrationToken)", "\(registrationToken)2"], "data": {}}
            """
        let job = json(text, context(.fcm))
        #expect(
            job.sent.map(\.token) == [registrationToken, registrationToken + "2", installationID] && job.lines == [])
        #expect(kinds(job) == [[.registrationToken, .installation]])
    }

    @Test(arguments: [
        (#""tokens":[],"fids":["\#(installationID)"]"#, Address.Kind.installation),
        (#""tokens":["\#(registrationToken)"],"fids":[]"#, .registrationToken),
        (#""tokens":["\#(registrationToken)"],"fids":[],"payloads":[{"data":{}}]"#, .registrationToken),
    ])
    func `an empty list beside the other one is as good as none`(recipients: String, kind: Address.Kind) {
        let job = json("{\(recipients)\(recipients.contains("payloads") ? "" : ",\"data\":{}")}", context(.fcm))
        #expect(job.lines == [] && job.sent.count == 1 && kinds(job) == [[kind]])
    }

    @Test func `the faults of two lists have the paths of their lists`() {
        let job = json(#"{"tokens": ["x", 1], "fids": ["\#(registrationToken)", "short"], "data": {}}"#, context(.fcm))
        #expect(
            complaints(job).map { $0.prefix { $0 != ";" } } == [
                "tokens[0]: the token has 1 byte", "tokens[1]: expected a string, found a number",
                "fids[0]: the fid's character 23 is `:`", "fids[1]: the fid has 5 bytes",
            ])
        #expect(job.summary.failure == nil && job.summary.rejectedCount == 4)
        #expect(
            job.chunks.flatMap(\.rejected).allSatisfy { $0.refusal.verdict == .invalid && $0.refusal.status == nil })
        #expect(Set(job.sent.map(\.reason)) == ["INVALID_ARGUMENT"])
    }

    @Test func `a recipient is a message as FCM takes it`() {
        let text = """
            {"token":"\(registrationToken)","notification":{"title":"Storm"},"data":{"order":"17"},"android":{"priority":"HIGH"}}
            {"fid":"\(installationID)","data":{"order":"18"},"fcmOptions":{}}
            """
        let job = lines(text + "\n", context(.fcm))
        #expect(job.lines == [])
        #expect(
            sent(job)
                == [
                    #"{"notification":{"title":"Storm"},"data":{"order":"17"},"android":{"priority":"HIGH","ttl":"Ns"}}"#,
                    #"{"data":{"order":"18"},"fcmOptions":{},"android":{"ttl":"Ns"}}"#,
                ].map(\.withoutBraces))
        #expect(kinds(job) == [[.registrationToken, .installation]])
    }

    @Test func `lines are tokens or mappings, and share the defaults`() {
        let text = """
            {"job":{"count":4},"defaults":{"alert":"x"}}
            "\(registrationToken)"
            {"token":"\(registrationToken)"}
            {"fid":"\(installationID)"}
            {"token":"\(registrationToken)","badge":2}

            """
        for piece in [1, 7, Int.max] {
            let job = lines(text, context(.fcm), piece: piece)
            #expect(job.lines == [] && job.summary.failure == nil)
            #expect(kinds(job) == [[.registrationToken, .installation, .registrationToken]])
            #expect(
                Set(sent(job)) == [
                    #"{"notification":{"body":"x"},"android":{"ttl":"Ns"}}"#.withoutBraces,
                    #"{"notification":{"body":"x"},"android":{"notification":{"notification_count":2},"ttl":"Ns"}}"#
                        .withoutBraces,
                ])
        }
    }

    @Test func `a recipient's member replaces the job's, and its shorthand the job's`() {
        let members = json(
            """
            {"notification":{"title":"T"},"android":{"ttl":"60s"},"recipients":[
              {"token":"\(registrationToken)","android":{"priority":"normal"}},
              {"token":"\(registrationToken)","payload":{"data":{"a":"1"}}}]}
            """, context(.fcm))
        #expect(members.lines == [])
        #expect(
            sent(members)
                == [
                    #"{"notification":{"title":"T"},"android":{"priority":"normal","ttl":"Ns"}}"#,
                    #"{"data":{"a":"1"},"android":{"ttl":"Ns"}}"#,
                ].map(\.withoutBraces))
    }

    @Test(arguments: [
        (#""alert":"x""#, #""data":{}"#, "members of a message cannot change the job's shorthands such as `alert`"),
        (#""data":{}"#, #""alert":"x""#, "shorthands cannot change the job's members such as `notification`"),
        (#""payload":{}"#, #""badge":1"#, "shorthands cannot change the job's `payload`"),
        (#""payload":{}"#, #""android":{}"#, "members of a message cannot change the job's `payload`"),
    ])
    func `a recipient's message must be in the way of the job's`(job: String, own: String, message: String) {
        let read = json(
            "{\(job),\"recipients\":[{\"token\":\"\(registrationToken)\",\(own)}]}", context(.fcm))
        #expect(read.diagnostics.map(\.message) == [message] && read.summary.rejectedCount == 1)
        #expect(read.sent.map(\.reason) == ["BadPayload"])
    }

    @Test func `tokens and payloads go in pairs`() {
        let text = """
            {"tokens":["\(registrationToken)","\(registrationToken)2"],"payloads":[{"data":{"a":"1"}},{"data":{"a":2}}]}
            """
        let job = json(text, context(.fcm))
        #expect(sent(job) == [#"{"data":{"a":"1"},"android":{"ttl":"Ns"}}"#.withoutBraces])
        #expect(complaints(job) == ["payloads[1].data.a: must be text, found a number; write \"2\"; or use `custom`"])
    }

    @Test(arguments: [
        (
            #""topic":"news","token":"\#(registrationToken)""#,
            "`token` and `topic` cannot be combined; an FCM topic is itself the recipient; an APNs topic belongs to an APNs app"
        ),
        (#""token":"\#(registrationToken)","fid":"x""#, "`token` and `fid` cannot be combined"),
        (
            #""topic":"a","condition":"'a' in topics""#,
            "`topic` and `condition` cannot be combined; an FCM topic is itself the recipient; an APNs topic belongs to an APNs app"
        ),
        (
            #""topic":"/topics/news""#,
            "topic: the topic's character 1 is `/`; write the name alone, without /topics/"
        ),
        (
            #""condition":"'a' in topic""#,
            "condition: has no `in topics` behind a topic (at byte 8); write it as in 'news' in topics && !('sport' in topics)"
        ),
        (
            #""condition":"\#(String(repeating: "(", count: 1_025))""#,
            "condition: has 1025 bytes; the limit is 1024; name fewer topics"
        ),
        (#""fids":"x""#, "fids: expected an array, found a string; use `fid` for a single installation"),
        (
            #""tokens":["\#(registrationToken)"],"fids":["\#(installationID)"],"payloads":[{}]"#,
            "payloads: is allowed only with `tokens`; use `tokens`"
        ),
        (#""tokens":[],"fids":[]"#, "tokens: must not be empty"),
        (
            #""tokens":[],"topic":"news""#,
            "`tokens` and `topic` cannot be combined; an FCM topic is itself the recipient; an APNs topic belongs to an APNs app"
        ),
        (
            #""count":0"#,
            "no recipients; add `token`, `tokens`, `fid`, `fids` or `recipients`, or `topic` or `condition`"
        ),
    ])
    func `the recipients of a document have one form`(recipients: String, complaint: String) {
        let job = json("{\(recipients),\"data\":{}}", context(.fcm))
        #expect(complaints(job).first == complaint && job.summary.failure == .invalid)
    }

    @Test(arguments: [
        (#""topic":"news""#, Address.Kind.topic, "news"),
        (#""condition":"'a' in topics || 'b' in topics""#, .condition, "'a' in topics || 'b' in topics"),
    ])
    func `a topic or a condition is one notification`(recipients: String, kind: Address.Kind, text: String) {
        let job = json("{\(recipients),\"alert\":\"x\"}", context(.fcm))
        #expect(job.lines == [] && job.sent.map(\.token) == [text] && kinds(job) == [[kind]])
        #expect(job.sent.map(\.onDoubt) == [.report])
        #expect(sent(job) == [#"{"notification":{"body":"x"},"android":{"ttl":"Ns"}}"#.withoutBraces])
    }

    @Test func `a topic is resent in doubt only if the job says so`() {
        #expect(json(#"{"topic":"a","data":{},"on_doubt":"resend"}"#, context(.fcm)).sent.map(\.onDoubt) == [.resend])
        #expect(json(#"{"topic":"a","data":{},"on_doubt":null}"#, context(.fcm)).sent.map(\.onDoubt) == [.report])
        #expect(message(#""data":{}"#).sent.map(\.onDoubt) == [.resend])
    }

    @Test func `a long message to a topic gets a warning`() {
        let data = #""data":{"a":"\#(String(repeating: "x", count: 2048))"}"#
        let job = json("{\"topic\":\"a\",\(data)}", context(.fcm))
        #expect(job.diagnostics.map(\.severity) == [.warning] && job.sent.count == 1)
        #expect(message(data).lines == [])
    }

    @Test func `tokens that look like Apple's get one warning`() {
        let token = String(repeating: "0aF9", count: 16)
        let job = json("{\"tokens\":[\"\(token)\",\"\(token)\",\"\(registrationToken)\"],\"data\":{}}", context(.fcm))
        #expect(
            job.allLines == [
                "job:1:12: warning: tokens[0]: the token looks like an APNs token: 64 hexadecimal digits, and 1 more does\nhint: drop jobs for Apple's devices into an app with protocol: http2"
            ])
        #expect(job.sent.map(\.token) == [token, token, registrationToken])
    }

    @Test func `a recipient says when its token was registered`() {
        let time = "2026-11-21T06:00:00Z"
        let job = json(
            "{\"data\":{},\"recipients\":[{\"token\":\"\(registrationToken)\",\"registered_at\":\"\(time)\"}]}",
            context(.fcm))
        #expect(job.lines == [] && job.chunks.first?.registrations[0] == WallTime(rfc3339: time))
    }

    @Test(arguments: ["topic", "condition", "fids", "tokens"])
    func `only a document may have other recipients than tokens and installations`(key: String) {
        let job = lines("{\"\(key)\":\"a\",\"data\":{}}\n", context(.fcm))
        #expect(job.diagnostics.map(\.message).contains("the key `\(key)` is not allowed here"))
    }

    @Test func `a recipient has a token or an installation`() {
        let job = lines(
            "{\"token\":\"\(registrationToken)\",\"fid\":\"\(installationID)\",\"data\":{}}\n{\"data\":{}}\n",
            context(.fcm))
        #expect(
            complaints(job) == [
                "`token` and `fid` cannot be combined; remove one",
                "the token is missing; give each recipient a `token` or a `fid`",
            ])
        #expect(job.sent.map(\.reason) == ["BadValue", "INVALID_ARGUMENT"])
    }
}
