import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

/// Jobs with `channel` in place of tokens.
struct BroadcastTests {
    private static let id = "dHN0LXNyY2gtY2hubA=="
    private static let other = "bm9uZS1zdG9yZWQtaWQ="

    private static func context() throws -> JobContext {
        var context = SpoolModelTests.context(.http2)
        context.identity = .providerToken
        let other = try #require(ChannelID(Self.other))
        context.channels = [
            "match-7": BroadcastChannel(id: try #require(ChannelID(Self.id)), policy: .latest),
            "ticker": BroadcastChannel(id: other, policy: .nothing),
        ]
        return context
    }

    private static let update = #"{"aps":{"event":"update","timestamp":1795262400,"content-state":{"home":2}}}"#

    private func read(_ members: String, payload: String = update) throws -> ReadJob {
        json(#"{\#(members),"payload":\#(payload)}"#, try Self.context())
    }

    @Test(arguments: [id, "match-7"])
    func `a channel is named by its id or by the app's name for it`(text: String) throws {
        let job = try read(#""channel":"\#(text)","count":1"#)
        #expect(job.lines.isEmpty && job.summary.failure == nil && job.summary.recipientCount == 1)
        let batch = try #require(job.chunks.first?.batches.first)
        #expect(batch.attributes.addressKind == .channel && batch.count == 1 && batch.indices == 0..<1)
        #expect(batch.attributes.pushType == .liveactivity && batch.attributes.priority == .immediate)
        #expect(batch.attributes.expiration == .singleAttempt && job.payloads == [Self.update])
        #expect(String(decoding: batch.addressBytes(at: 0), as: UTF8.self) == Self.id)
    }

    @Test func `yaml and the settings of a job are read as for devices`() throws {
        let text = """
            channel: match-7
            id: goal-1
            lane: urgent
            priority: 5
            expiration: 2026-11-21T14:00:00Z
            payload: {aps: {event: end, timestamp: 1795262400, content-state: {home: 2}, dismissal-date: 1795266000}}
            ...

            """
        let job = yaml(text, try Self.context())
        #expect(job.lines.isEmpty && job.summary.header.ref == "goal-1" && job.summary.isSealed)
        let batch = try #require(job.chunks.first?.batches.first)
        #expect(batch.lane == .urgent && batch.attributes.priority == .powerSaving)
        #expect(batch.attributes.expiration.epochSeconds == 1_795_269_600)
    }

    /// A job, a part of what is said of it, and whether it fails.
    struct Case: Sendable, CustomTestStringConvertible {
        let members: String
        let words: String
        var payload = BroadcastTests.update
        var fails = true

        var testDescription: String { members }
    }

    @Test(arguments: [
        Case(members: #""channel":"match-8""#, words: #"`match-8` is neither a channel of the app nor a channel's id"#),
        Case(members: #""channel":"match-8""#, words: "did you mean `match-7`?"),
        Case(members: #""channel":7"#, words: "expected a string"),
        Case(members: #""channel":"match-7","token":"0A""#, words: "`token` and `channel` cannot be combined"),
        Case(members: #""channel":"match-7","topic":"com.example.app""#, words: "a broadcast has no topic"),
        Case(members: #""channel":"match-7","push_type":"alert""#, words: "must have push_type liveactivity"),
        Case(members: #""channel":"ticker","expiration":"+1h""#, words: "the channel stores nothing"),
        Case(members: #""channel":"match-7","count":2"#, words: "is 2, but the job has 1 recipients"),
        Case(members: #""channel":"match-7","collapse_id":"a""#, words: "broadcasts have no collapse id", fails: false),
        Case(
            members: #""channel":"match-7""#, words: "a broadcast cannot start a Live Activity",
            payload:
                #"{"aps":{"event":"start","timestamp":1,"content-state":{},"alert":"x","attributes-type":"a","attributes":{}}}"#
        ),
        Case(
            members: #""channel":"match-7""#, words: "needs `timestamp`",
            payload: #"{"aps":{"event":"end","content-state":{}}}"#),
        Case(
            members: #""channel":"match-7""#, words: "the limit is 5120",
            payload:
                #"{"aps":{"event":"end","timestamp":1,"content-state":{"x":"\#(String(repeating: "x", count: 5_100))"}}}"#
        ),
    ])
    func `what Apple would refuse is found before anything is sent`(one: Case) throws {
        let job = try read(one.members, payload: one.payload)
        #expect(job.lines.contains { $0.contains(one.words) }, "\(job.lines)")
        #expect((job.summary.failure != nil) == one.fails, "\(job.lines)")
    }

    @Test(arguments: [
        (#","expiration":"+1h""#, "match-7"), (#","expiration":0"#, "ticker"), (#","priority":1"#, "match-7"),
    ])
    func `what Apple may accept is sent`(members: String, channel: String) throws {
        let job = try read(#""channel":"\#(channel)"\#(members)"#)
        #expect(job.lines.isEmpty && job.summary.failure == nil)
    }

    @Test func `a payload may have a kilobyte more than one for devices`() throws {
        let text = String(repeating: "x", count: 4_900)
        let payload = #"{"aps":{"event":"end","timestamp":1,"content-state":{"x":"\#(text)"}}}"#
        #expect(try read(#""channel":"match-7""#, payload: payload).lines.isEmpty)
    }

    @Test func `a broadcast needs the app's bundle identifier, and HTTP 2`() throws {
        var nobody = try Self.context()
        nobody.topic = nil
        let text = #"{"channel":"match-7","payload":\#(Self.update)}"#
        #expect(json(text, nobody).lines.contains { $0.contains("the app has no topic") })
        var binary = SpoolModelTests.context(.frame)
        binary.channels = try Self.context().channels
        #expect(json(text, binary).lines.contains { $0.contains("the binary protocol has no broadcasts") })
    }

    @Test func `lines and recipients have no channel`() throws {
        let job = lines(#"{"channel":"match-7","payload":\#(Self.update)}"# + "\n", try Self.context())
        #expect(
            job.lines.contains { $0.contains("the key `channel` is not allowed here\nhint: write a document") },
            "\(job.lines)")
    }

    @Test func `a misspelled channel is the only fault of its job`() throws {
        #expect(try read(#""channel":"match-8""#).diagnostics.map(\.path) == ["channel"])
    }

    @Test(arguments: ["", "a", "abc", "ab=c", "=abc", "====", "ab c", "a-_b", String(repeating: "A", count: 256)])
    func `what is not base64 with padding is no channel`(text: String) {
        #expect(ChannelID(text) == nil)
    }

    @Test(arguments: ["YWI=", "YQ==", "abcd", "+/+/", String(repeating: "A", count: 252)])
    func `base64 is a channel, as it is written`(text: String) {
        #expect(ChannelID(text)?.text == text)
    }
}
