import APNSModel
import Document
import JSON
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

struct FeedbackLineTests {
    private let line = FeedbackLine(app: "weather", node: "host \"a\"")
    private let start = #"{"v":1,"kind":"#
    private let origin = #","app":"weather","node":"host \"a\"","#
    private let id = #""id":"0000000000000000000000002D""#

    private func identity(_ name: String = "job.json", ref: String? = "r1") throws -> JobIdentity {
        JobIdentity(name: try #require(FileName(name)), id: JobID(bits: 77), ref: ref)
    }

    private func text(_ write: (inout [UInt8]) -> Void) -> String {
        var bytes = Array("before\n".utf8)
        write(&bytes)
        return String(decoding: bytes.dropFirst(7), as: UTF8.self)
    }

    private func batch(_ tokens: [[UInt8]], first: Int) -> Batch {
        var packed = PackedBytes()
        for token in tokens { packed.append(token) }
        let header = Batch.Header(job: JobID(bits: 77), attributes: Attributes())
        return Batch(header: header, firstIndex: first, addresses: packed, payloads: .shared(Payload(bytes: [])))
    }

    @Test func `a job line says how the job ended`() throws {
        var tally = Tally()
        tally.add(.accepted, count: 7)
        var report = JobReport(
            try identity(), Conclusion(tally: tally, fault: nil), notificationCount: 7, at: noon + .seconds(9))
        (report.path, report.droppedAt, report.claimedAt) = (
            "weather/done/2026-11-21/job.json", noon, noon + .milliseconds(5)
        )
        #expect(
            text { line.appendJob(report, to: &$0) } == start + #""job""# + origin
                + #""job":"job.json",\#(id),"ref":"r1","#
                + #""state":"done","path":"weather/done/2026-11-21/job.json","notifications":7,"accepted":7,"rejected":0,"#
                + #""expired":0,"unsent":0,"unknown":0,"dropped_at":"2026-11-21T12:00:00.000Z","#
                + #""claimed_at":"2026-11-21T12:00:00.005Z","finished_at":"2026-11-21T12:00:09.000Z"}"# + "\n")
    }

    @Test func `a broadcast's line names its channel instead of a token`() throws {
        var attributes = Attributes(pushType: .liveactivity)
        attributes.addressKind = .channel
        var tokens = PackedBytes()
        tokens.append(Array("YWI=".utf8))
        let batch = Batch(
            header: .init(job: JobID(bits: 77), attributes: attributes), firstIndex: 0, addresses: tokens,
            payloads: .shared(Payload(bytes: [])))
        let refusal = Refusal(status: 400, reason: "ChannelNotRegistered", verdict: .invalid)
        let settlement = Settlement(batch, .rejected(refusal))
        let job = try identity()
        let text = text { line.appendNotifications(settlement, of: job, at: noon, to: &$0) }
        #expect(text.contains(#""index":0,"channel":"YWI=","outcome":"rejected","status":400,"#), "\(text)")
        #expect(!text.contains("token"))
    }

    @Test(arguments: [
        (Address.Kind.registrationToken, "token"), (.installation, "fid"), (.topic, "topic"),
        (.condition, "condition"),
    ])
    func `a line of an FCM app has its address as text, and no id of ours`(kind: Address.Kind, key: String) throws {
        var attributes = Attributes()
        attributes.addressKind = kind
        var addresses = PackedBytes()
        addresses.append(Array("'aB-_:' in topics".utf8))
        let batch = Batch(
            header: .init(job: JobID(bits: 77), attributes: attributes), firstIndex: 0, addresses: addresses,
            payloads: .shared(Payload(bytes: [])))
        let settlement = Settlement(batch, .rejected(Refusal(status: 404, reason: "UNREGISTERED", verdict: .gone)))
        let job = try identity()
        let text = text { line.appendNotifications(settlement, of: job, at: noon, to: &$0) }
        #expect(
            text.hasSuffix(
                #""index":0,"\#(key)":"'aB-_:' in topics","outcome":"rejected","status":404,"reason":"UNREGISTERED","#
                    + #""verdict":"gone","at":"2026-11-21T12:00:00.000Z"}"# + "\n"), "\(text)")
    }

    @Test func `a rejected recipient of an FCM app has no id of ours`() throws {
        let read = json(#"{"token":"short","data":{}}"#, context(.fcm))
        let recipient = try #require(read.chunks.first?.rejected.first)
        let job = try identity()
        let text = text { line.appendRejected(recipient, of: job, at: noon, to: &$0) }
        #expect(
            text.hasSuffix(
                #""index":0,"outcome":"rejected","reason":"INVALID_ARGUMENT","verdict":"invalid","at":"2026-11-21T12:00:00.000Z"}"#
                    + "\n"),
            "\(text)")
    }

    @Test func `a member is the same whether its value is spelled or given as a string`() throws {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            let time = WallTime(nanoseconds: .random(in: .min ... .max, using: &random))
            let id = JobID(bits: .random(in: 0 ... .max, using: &random))
            let name = try #require(FileName("é\"\\%\n\(seed).json"))
            var (spelled, given) = (JSONWriter(), JSONWriter())
            spelled.member("time", time)
            spelled.member("none", nil as WallTime?)
            spelled.member("id", id)
            spelled.member("name", name)
            given.member("time", time.rfc3339)
            given.member("id", id.description)
            given.member("name", name.escaped)
            #expect(spelled.bytes == given.bytes, "seed \(seed)")
        }
    }

    @Test func `what has no value is left out, an unsealed job says so`() throws {
        let conclusion = Conclusion(tally: Tally(), fault: .incomplete)
        var report = JobReport(try identity("é%\n.json", ref: nil), conclusion, notificationCount: 0, at: noon)
        report.isKnownComplete = false
        let text = text { line.appendJob(report, to: &$0) }
        #expect(text.contains(#""job":"é%25%0A.json",\#(id),"state":"failed","code":"incomplete","path":"""#))
        #expect(!text.contains("ref") && !text.contains("claimed_at") && text.hasSuffix(#""sealed":false}"# + "\n"))
    }

    @Test func `a duplicate says of which job`() throws {
        let conclusion = Conclusion(tally: Tally(), fault: .duplicate)
        var report = JobReport(try identity(), conclusion, notificationCount: 1, at: noon)
        report.earlier = SentTwin(id: JobID(bits: 1), endedAt: noon)
        let text = text { line.appendJob(report, to: &$0) }
        let answer = #""duplicate_of":"00000000000000000000000001","duplicate_of_at":"2026-11-21T12:00:00.000Z","#
        #expect(text.contains(#""state":"failed","code":"duplicate",\#(answer)"path":"#))
        let result = String(decoding: ResultFile(report).bytes, as: UTF8.self)
        #expect(result.contains(#""duplicate_of": "00000000000000000000000001","#))
        #expect(result.contains(#""duplicate_of_at": "2026-11-21T12:00:00.000Z","#))
    }

    @Test func `a line has the gateway's text about the message`() throws {
        var refusal = Refusal(status: 400, reason: "INVALID_ARGUMENT", verdict: .message)
        refusal.detail = "Unknown name \"toen\""
        let identity = try identity()
        let text = text {
            line.appendNotifications(
                Settlement(batch([[1]], first: 0), .rejected(refusal)), of: identity, at: noon, to: &$0)
        }
        #expect(text.contains(#","verdict":"message","detail":"Unknown name \"toen\"","apns_id":"#))
    }

    @Test func `a line about an accepted message of FCM has its name`() throws {
        var attributes = Attributes()
        attributes.addressKind = .installation
        var packed = PackedBytes()
        packed.append(Array("cIyyTOs0RTapKNhrbHV9hA".utf8))
        let header = Batch.Header(job: JobID(bits: 77), attributes: attributes)
        var settlement = Settlement(
            Batch(header: header, firstIndex: 0, addresses: packed, payloads: .shared(Payload(bytes: []))), .accepted)
        settlement.add(uniqueIDs: [JobID(bits: 77): [0: "projects/weather/messages/0:17%ab"]])
        let identity = try identity()
        let text = text { line.appendNotifications(settlement, of: identity, at: noon, to: &$0) }
        let name =
            #","fid":"cIyyTOs0RTapKNhrbHV9hA","outcome":"accepted","message_name":"projects/weather/messages/0:17%ab","at""#
        #expect(text.contains(name))
    }

    @Test func `a settlement makes a line for each notification`() throws {
        let refusal = Refusal(status: 8, reason: "InvalidToken", verdict: .invalid)
        let settlement = Settlement(batch([[1, 0xAB], [2], [3]], first: 5)[5..<7], .rejected(refusal))
        let identity = try identity()
        let text = text { line.appendNotifications(settlement, of: identity, at: noon, to: &$0) }
        let head = start + #""notification""# + origin + #""job":"job.json",\#(id),"ref":"r1","index":"#
        let outcome = #","outcome":"rejected","status":8,"reason":"InvalidToken","verdict":"invalid","apns_id":"#
        #expect(
            text == head + #"5,"token":"01ab""# + outcome
                + #""00000000-0000-8000-8000-000000000048","at":"2026-11-21T12:00:00.000Z"}"# + "\n"
                + head + #"6,"token":"02""# + outcome
                + #""00000000-0000-8000-8000-00000000004b","at":"2026-11-21T12:00:00.000Z"}"# + "\n")
    }

    @Test(arguments: [
        (Outcome.accepted, #""outcome":"accepted","apns_id""#), (.expired, #""outcome":"expired","apns_id""#),
        (.unknown, #""outcome":"unknown","apns_id""#),
        (
            .unsent(Refusal(status: nil, reason: "GaveUp", verdict: .later)),
            #""outcome":"unsent","reason":"GaveUp","verdict":"later","apns_id""#
        ),
    ])
    func `an outcome is told with what there is to it`(outcome: Outcome, part: String) throws {
        let identity = try identity()
        let settlement = Settlement(batch([[1]], first: 0), outcome)
        #expect(text { line.appendNotifications(settlement, of: identity, at: noon, to: &$0) }.contains(part))
    }

    @Test func `a recipient that nothing was sent to is rejected without a status`() throws {
        let job = json(#"{"tokens":["0A","!"],"alert":"x"}"#)
        let recipient = try #require(job.chunks[0].rejected.first)
        let identity = try identity()
        let text = text { line.appendRejected(recipient, of: identity, at: noon, to: &$0) }
        #expect(
            text.contains(#""index":1,"outcome":"rejected","reason":"BadDeviceToken","verdict":"invalid","apns_id":""#))
        #expect(text.hasSuffix("Z\"}\n"))
    }

    @Test func `a gone token says since when`() throws {
        let refusal = Refusal(status: 410, reason: "Unregistered", verdict: .gone, goneSince: noon)
        let settlement = Settlement(batch([[0xFF]], first: 3), .rejected(refusal))
        let identity = try identity()
        let gone = text { line.appendNotifications(settlement, of: identity, at: noon + .seconds(1), to: &$0) }
        #expect(
            gone.contains(
                #""index":3,"token":"ff","outcome":"rejected","status":410,"reason":"Unregistered","verdict":"gone""#))
        #expect(gone.hasSuffix(#""at":"2026-11-21T12:00:01.000Z","gone_since":"2026-11-21T12:00:00.000Z"}"# + "\n"))
        let token = text { line.appendToken(DeviceToken(bytes: [0xFF]), goneSince: noon, to: &$0) }
        #expect(
            token == start + #""token""# + origin
                + #""token":"ff","verdict":"gone","gone_since":"2026-11-21T12:00:00.000Z","source":"feedback_service"}"#
                + "\n")
    }
}

struct ResultFileTests {
    @Test func `a result file says why, where and which`() throws {
        let token = String(repeating: "0b", count: 32)
        let job = json(#"{"tokens":["\#(token)","!","!","\#(token)","x!"],"alert":"x"}"#)
        var tally = Tally()
        tally.add(.accepted, count: 1)
        tally.add(.unsent(Refusal(status: nil, reason: "GaveUp", verdict: .later)), count: 1)
        let identity = JobIdentity(name: try #require(FileName("a.json")), id: JobID(bits: 77))
        var result = ResultFile(
            JobReport(identity, Conclusion(tally: tally, fault: nil), notificationCount: 5, at: noon))
        (result.why, result.findings) = ("gave up", job.summary.report)
        result.runs = [.rejected: IndexRuns([1..<3, 4..<5]), .unsent: IndexRuns(3..<4)]
        let text = String(decoding: result.bytes, as: UTF8.self)
        #expect(
            text.hasPrefix(
                """
                {
                  "v": 1,
                  "job": "a.json",
                  "id": "0000000000000000000000002D",
                  "state": "failed",
                  "code": "unsent",
                  "why": "gave up",
                """))
        #expect(
            text.contains(
                "  \"errors\": 3,\n  \"warnings\": 0,\n  \"diagnostics\": [{\"severity\":\"error\",\"line\":1,\"column\":79,\"path\":\"tokens[1]\","
            ))
        #expect(text.hasSuffix("  \"indexes\": {\"rejected\":[[1,2],[4,4]],\"unsent\":[[3,3]]}\n}\n"))
        var parser = JSON.Parser()
        #expect(throws: Never.self) { try parser.parse(result.bytes) }
    }

    @Test(arguments: [
        (0, 0, "[]"), (1, 0, #"["rejected"]"#), (0, 1, #"["expired"]"#), (1, 2, #"["rejected","expired"]"#),
    ])
    func `a result file names the lists that lack some`(rejected: Int, expired: Int, names: String) throws {
        var tally = Tally()
        tally.add(.rejected(Refusal(status: 410, reason: "Unregistered", verdict: .gone)), count: 1 + rejected)
        tally.add(.expired, count: 1 + expired)
        let identity = JobIdentity(name: try #require(FileName("a.json")), id: JobID(bits: 77))
        var result = ResultFile(
            JobReport(identity, Conclusion(tally: tally, fault: nil), notificationCount: 5, at: noon))
        (result.runs, result.isAbridged) = ([.rejected: IndexRuns(0..<1), .expired: IndexRuns(1..<2)], true)
        let text = String(decoding: result.bytes, as: UTF8.self)
        #expect(text.hasSuffix(",\n  \"indexes_incomplete\": \(names)\n}\n"), "\(text)")
    }

    @Test func `only a job with everything accepted needs none`() throws {
        var tally = Tally()
        tally.add(.accepted, count: 2)
        let identity = JobIdentity(name: try #require(FileName("a.json")), id: JobID(bits: 77))
        let conclusion = Conclusion(tally: tally, fault: nil)
        #expect(!JobReport(identity, conclusion, notificationCount: 2, at: noon).needsResult)
        #expect(JobReport(identity, conclusion, notificationCount: 3, at: noon).needsResult)
        let failed = Conclusion(tally: Tally(), fault: .invalid)
        #expect(JobReport(identity, failed, notificationCount: 0, at: noon).needsResult)
        #expect(ResultFile.isNeeded(for: conclusion, notificationCount: 3))
        #expect(!ResultFile.isNeeded(for: conclusion, notificationCount: 2))
    }
}
