import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

struct RecipientFormTests {
    @Test func `one token and one payload make one notification`() throws {
        let job = json(#"{"token": "DEADBEEF", "payload": {"aps": {"alert": "Hello"}}}"#)
        var attributes = Attributes()
        attributes.expiration = Expiration(epochSeconds: noon.epochSeconds + 30 * 86_400)
        let sent = Sent(
            index: 0, token: "deadbeef", payload: #"{"aps":{"alert":"Hello"}}"#, attributes: attributes,
            onDoubt: .resend)
        #expect(job.sent == [sent] && job.summary.failure == nil && job.lines.isEmpty)
        #expect(job.summary.header.giveUpAt == (noon + .seconds(86_400)).unset)
    }

    @Test func `tokens share one payload and one batch`() {
        let job = json(#"{"tokens": ["0A", "<0b 0C>", "AQI="], "alert": "x"}"#)
        #expect(job.sent.map(\.token) == ["0a", "0b0c", "0102"])
        #expect(job.chunks.count == 1 && job.chunks[0].batches.count == 1)
        #expect(Set(job.payloads) == [#"{"aps":{"alert":"x"}}"#])
    }

    @Test func `tokens and payloads go in pairs`() {
        let job = json(#"{"tokens": ["0A", "0B"], "payloads": [{"aps":{"badge":0}}, {"aps":{"badge":2}}]}"#)
        #expect(job.payloads == [#"{"aps":{"badge":0}}"#, #"{"aps":{"badge":2}}"#])
        #expect(job.chunks[0].batches.count == 1)
    }

    @Test(arguments: [(3, 2), (2, 3), (1, 2), (2, 1)])
    func `pairs of unequal length fail the job and say both numbers`(tokens: Int, payloads: Int) {
        let tokenList = Array(repeating: #""0A""#, count: tokens).joined(separator: ",")
        let payloadList = Array(repeating: #"{"aps":{}}"#, count: payloads).joined(separator: ",")
        let job = json("{\"tokens\":[\(tokenList)],\"payloads\":[\(payloadList)]}")
        #expect(job.summary.failure == .invalid && job.sent.isEmpty)
        #expect(job.summary.fault?.message == "there are \(tokens) tokens and \(payloads) payloads")
        #expect(job.summary.fault?.path == "payloads")
    }

    @Test func `a recipient's attributes and shorthands go over the job's own`() {
        let job = json(
            """
            {"alert": "all", "badge": 1, "priority": 5, "recipients": [
              {"token": "0A"}, {"token": "0B", "badge": 0}, {"token": "0C", "priority": 10},
              {"token": "0D", "payload": {"aps": {"sound": "x"}}, "registered_at": "2026-01-01T00:00:00Z"},
              {"token": "0E", "alert": "own", "custom": {"k": [1, 2]}, "collapse_id": "c"}]}
            """)
        let all = #"{"aps":{"alert":"all","badge":1}}"#
        #expect(
            job.payloads == [
                all, #"{"aps":{"alert":"all","badge":0}}"#, all, #"{"aps":{"sound":"x"}}"#,
                #"{"aps":{"alert":"own","badge":1},"k":[1,2]}"#,
            ])
        #expect(
            job.sent.map(\.attributes?.priority) == [
                .powerSaving, .powerSaving, .immediate, .powerSaving, .powerSaving,
            ])
        #expect(job.sent.map(\.attributes?.collapseID) == [nil, nil, nil, nil, "c"])
        #expect(job.diagnostics.isEmpty)
    }

    @Test(arguments: [
        (
            #"{"payload":{"aps":{}}}"#,
            "job:1:1: error: no recipients\nhint: add `token`, `tokens` or `recipients`, or `channel` for a broadcast"
        ),
        (#"{"token":"0A","tokens":["0A"],"alert":"x"}"#, "job:1:24: error: `token` and `tokens` cannot be combined"),
        (
            #"{"tokens":["0A"],"recipients":[],"alert":"x"}"#,
            "job:1:31: error: `tokens` and `recipients` cannot be combined"
        ),
        (
            #"{"tokens":"0A","alert":"x"}"#,
            "job:1:11: error: tokens: expected an array, found a string\nhint: use `token` for a single token"
        ),
        (#"{"tokens":[],"alert":"x"}"#, "job:1:11: error: tokens: must not be empty"),
        (#"{"recipients":{},"alert":"x"}"#, "job:1:15: error: recipients: expected an array, found an object"),
        (
            #"{"token":"0A","payloads":[{}]}"#,
            "job:1:26: error: payloads: is allowed only with `tokens`\nhint: use `tokens`"
        ),
        (
            #"{"tokens":["0A"],"payloads":[{}],"badge":1}"#,
            "job:1:29: error: payloads: `payloads` and a shared payload cannot be combined\nhint: put everything into `payloads`"
        ),
        (
            #"{"token":"0A"}"#,
            "job:1:1: error: the payload is missing\nhint: add `payload`, or shorthands such as `alert` and `badge`"
        ),
        (#"["0A"]"#, "job:1:1: error: expected an object, found an array"),
        (
            #"{"token":null,"alert":"x"}"#,
            "job:1:1: error: no recipients\nhint: add `token`, `tokens` or `recipients`, or `channel` for a broadcast"
        ),
    ])
    func `exactly one form of recipients must be there`(text: String, line: String) {
        let job = json(text)
        #expect(job.lines.first == line && job.summary.failure == .invalid)
    }

    @Test func `a fault of one recipient rejects that one alone`() {
        let job = json(#"{"tokens": ["0A", "xyz!", "", 17, "0B"], "alert": "x"}"#)
        #expect(job.summary.failure == nil && job.summary.rejectedCount == 3 && job.summary.recipientCount == 5)
        #expect(job.sent.map(\.reason) == [nil, "BadDeviceToken", "BadDeviceToken", "BadDeviceToken", nil])
        #expect(job.sent.map(\.index) == [0, 1, 2, 3, 4])
        #expect(
            job.lines[0]
                == "job:1:19: error: tokens[1]: the token is neither hexadecimal nor base64\nhint: pass the token exactly as the device sent it"
        )
        #expect(job.lines[2] == "job:1:31: error: tokens[3]: expected a string, found a number")
    }

    @Test func `with strict one bad recipient fails the job`() {
        let job = json(#"{"tokens": ["0A", "xyz!"], "alert": "x", "strict": true}"#)
        #expect(job.summary.failure == .invalid && job.summary.fault?.path == "tokens[1]")
    }

    @Test func `a job of bad recipients only is no fault of the document`() {
        let job = json(#"{"token": "", "alert": "x"}"#)
        #expect(job.summary.failure == nil && job.summary.rejectedCount == 1 && job.summary.recipientCount == 1)
    }

    @Test func `a huge count is a promise that is not kept, not a trap`() {
        for count in ["9223372036854775807", "2", "0"] {
            let job = json(#"{"token": "0A", "alert": "x", "count": \#(count)}"#)
            #expect(job.summary.failure == .incomplete)
            #expect(job.summary.fault?.message == "is \(count), but the job has 1 recipients")
        }
        #expect(json(#"{"token": "0A", "alert": "x", "count": 1}"#).summary.failure == nil)
        #expect(json(#"{"token": "0A", "alert": "x", "count": 99999999999999999999}"#).summary.failure == .invalid)
    }
}
