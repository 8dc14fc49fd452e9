import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

struct RecipientFaultTests {
    @Test func `tokens of an unusual length are told once`() {
        let tokens = ["DEADBEAF", "00112233445566"] + [32, 64, 80, 100].map { String(repeating: "0a", count: $0) }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let job = json(#"{"alert":"x","tokens":[\#(list)]}"#)
        #expect(job.sent.count == 6 && job.summary.failure == nil)
        let words = "the token has only 4 bytes, and 1 more has an unusual length"
        #expect(job.allLines.count == 1 && job.allLines[0].hasPrefix("job:1:24: warning: tokens[0]: \(words)\n"))
        #expect(json(#"{"token":"DEADBEAF","badge":1}"#).allLines.count == 1)
        #expect(json(#"{"alert":"x","recipients":[{"token":"DEADBEAF","badge":1}]}"#).allLines.count == 1)
        #expect(json(#"{"tokens":["0A"],"payloads":[{"aps":{"badge":1}}]}"#).allLines.count == 1)
    }

    @Test(arguments: [
        (31, "the token has only 31 bytes"), (33, "the token has 33 bytes"), (48, "the token has 48 bytes"),
    ])
    func `a token that is a little too short or too long is warned of`(byteCount: Int, words: String) {
        let job = json(#"{"alert":"x","token":"\#(String(repeating: "0a", count: byteCount))"}"#)
        #expect(job.sent.count == 1 && job.allLines.first?.contains("warning: token: \(words)\n") == true)
    }

    @Test(arguments: ["0x", "O"])
    func `a mistyped token is the fault of its recipient in every form of a job`(start: String) {
        let token = start + String(repeating: "a1", count: 32).dropFirst(start.count % 2)
        let words = "the token is hexadecimal, but its character \(start.count) is `\(start.suffix(1))`"
        for job in [
            json(#"{"alert":"x","token":"\#(token)"}"#), json(#"{"alert":"x","tokens":["\#(token)"]}"#),
            json(#"{"tokens":["\#(token)"],"payloads":[{"aps":{"alert":"x"}}]}"#),
            json(#"{"alert":"x","recipients":[{"token":"\#(token)"}]}"#),
            json(#"{"recipients":[{"token":"\#(token)","alert":"x"}]}"#), yaml("alert: x\ntoken: \(token)\n"),
            lines(#"{"token":"\#(token)","alert":"x"}"# + "\n"),
            lines(#"{"defaults":{"alert":"x"}}"# + "\n\"\(token)\"\n"),
        ] {
            #expect(job.sent.map(\.reason) == ["BadDeviceToken"])
            #expect(job.diagnostics.map(\.message) == [words])
        }
    }

    @Test(arguments: [
        (
            #"{"alert":"x"}"#, "MissingDeviceToken",
            "job:1:29: error: recipients[0]: the token is missing\nhint: give each recipient a `token`"
        ),
        (
            #"{"token":"abc"}"#, "BadDeviceToken",
            "job:1:38: error: recipients[0].token: the token has 3 hexadecimal digits, an odd number\nhint: pass the token exactly as the device sent it"
        ),
        (
            #"{"token":"0A","badge":"3"}"#, "BadPayload",
            "job:1:51: error: recipients[0].badge: expected a whole number, 0 or greater, found a string"
        ),
        (
            #"{"token":"0A","priority":7}"#, "BadPriority",
            "job:1:54: error: recipients[0].priority: must be 10, 5 or 1, unquoted (got `7`)"
        ),
        (
            #"{"token":"0A","bagde":3}"#, "BadValue",
            "job:1:43: error: recipients[0]: the key `bagde` is unknown\nhint: did you mean `badge`?"
        ),
        (
            #"{"token":"0A","count":3}"#, "BadValue",
            "job:1:43: error: recipients[0]: the key `count` is not allowed here\nhint: set it once for the whole job"
        ),
        (
            #"{"token":"0A","registered_at":"now"}"#, "BadValue",
            "job:1:59: error: recipients[0].registered_at: expected a time such as 2026-11-22T06:00:00Z, found a string"
        ),
        (
            #"{"token":"0A","apns_id":"7"}"#, "BadMessageId",
            "job:1:53: error: recipients[0].apns_id: is not a UUID\nhint: write a UUID such as 123e4567-e89b-12d3-a456-42665544000a, or omit it"
        ),
        (
            #"{"token":"0A","payload":{"aps":{}},"badge":3}"#, "BadPayload",
            "job:1:64: error: recipients[0].badge: `payload` and `badge` cannot be combined\nhint: put everything into `payload`, or use only shorthands"
        ),
        (#""0A""#, "BadValue", "job:1:29: error: recipients[0]: expected an object with a token, found a string"),
    ])
    func `a recipient's fault is told with its place and path`(text: String, reason: String, line: String) {
        let job = json("{\"alert\":\"\",\"recipients\":  [\(text)]}")
        #expect(job.lines == [line])
        #expect(job.sent.map(\.reason) == [reason] && job.summary.failure == nil)
    }

    @Test func `a recipient's shorthands cannot change the job's whole payload`() {
        let job = json(#"{"payload":{"aps":{"alert":"x"}},"recipients":[{"token":"0A","badge":1}]}"#)
        #expect(job.sent.map(\.reason) == ["BadPayload"] && job.sent[0].token == "0a")
        #expect(job.diagnostics.first?.message == "shorthands cannot change the job's `payload`")
    }

    @Test func `a recipient without any payload is rejected, the others are sent`() {
        let job = json(#"{"recipients":[{"token":"0A","alert":"x"},{"token":"0B"}]}"#)
        #expect(job.sent.map(\.reason) == [nil, "PayloadEmpty"])
    }

    @Test func `a payload that is too large rejects whom it was for, and says both sizes`() {
        let long = String(repeating: "é", count: 2048)
        let job = json(#"{"alert":"x","recipients":[{"token":"0A"},{"token":"0B","alert":"\#(long)"}]}"#)
        #expect(job.sent.map(\.reason) == [nil, "PayloadTooLarge"])
        #expect(job.diagnostics.first?.message == "the payload has 4116 bytes; the limit is 4096")
    }

    @Test func `what all share is the document's fault, and told once`() {
        let job = json(#"{"tokens":["0A","0B"],"alert":"x","push_type":"background"}"#)
        #expect(job.summary.failure == .invalid && job.lines.count == 2)
        #expect(job.lines[0].hasPrefix("job:1:1: error: a background push needs content-available 1"))
    }

    @Test func `what all share is no fault when nobody gets it`() {
        let long = String(repeating: "x", count: 5000)
        let job = json(#"{"alert":"\#(long)","recipients":[{"token":"0A","alert":"y"}]}"#)
        #expect(job.summary.failure == nil && job.payloads == [#"{"aps":{"alert":"y"}}"#])
    }

    @Test func `one payload of a pair is one recipient's fault`() {
        let job = json(#"{"tokens":["0A","0B"],"payloads":[{"aps":{"badge":[]}},{"aps":{"badge":1}}]}"#)
        #expect(job.sent.map(\.reason) == ["BadPayload", nil] && job.sent[0].token == "0a")
        #expect(
            job.lines == [
                "job:1:51: error: payloads[0].aps.badge: expected a whole number, 0 or greater, found an array\nhint: write a number without quotes; 0 removes the badge"
            ])
    }

    @Test func `the first thousand diagnostics are kept and all are counted`() {
        let tokens = Array(repeating: #""!""#, count: 2500).joined(separator: ",")
        let job = json("{\"tokens\":[\(tokens)],\"alert\":\"x\"}")
        #expect(job.summary.report.diagnostics.count == 1_000 && job.summary.report.errorCount == 2_500)
        #expect(
            job.summary.rejectedCount == 2_500 && job.chunks.map(\.indices) == [0..<1024, 1024..<2048, 2048..<2500])
    }

    @Test func `no diagnostic quotes a token`() {
        for token in ["0123456789abcdef0", "zz-secret!", String(repeating: "ab", count: 120)] {
            let job = json(#"{"token":"\#(token)","alert":"x"}"#)
            #expect(job.lines.count == 1 && !job.lines[0].contains(token.prefix(6)))
        }
    }
}
