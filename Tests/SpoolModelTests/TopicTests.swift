import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

/// Topics over HTTP/2: whose they are, and whether the credentials are good for them.
struct TopicTests {
    /// Who sends, as an app's configuration says it.
    enum Sender: CaseIterable {
        case token, tokenWithoutTopic, certificate, oldCertificate

        var context: JobContext {
            var context = SpoolModelTests.context(.http2)
            switch self {
            case .token: context.identity = .providerToken
            case .tokenWithoutTopic:
                context.identity = .providerToken
                context.topic = nil
            case .certificate: context.identity = .certificate(topics: ["com.example.app", "com.example.app.voip"])
            case .oldCertificate: context.identity = .certificate(topics: [])
            }
            return context
        }
    }

    private func read(_ members: String, _ sender: Sender) -> ReadJob {
        json(#"{"token":"0A","payload":{"aps":{"alert":"x"}}\#(members)}"#, sender.context)
    }

    @Test(arguments: [Sender.token, .certificate, .oldCertificate])
    func `a job that names no topic leaves it to the app`(sender: Sender) throws {
        let job = read("", sender)
        let batch = try #require(job.chunks.first?.batches.first)
        #expect(job.lines.isEmpty && batch.attributes.topic == nil && !batch.hasOwnTopic)
    }

    @Test func `a topic of the job's own is marked as such`() throws {
        let batch = try #require(
            read(#","topic":"com.example.app.voip","push_type":"voip""#, .certificate).chunks.first?.batches.first)
        #expect(batch.attributes.topic == "com.example.app.voip" && batch.hasOwnTopic)
    }

    @Test func `recipients with topics of their own are batches of their own`() {
        let job = json(
            #"{"alert":"x","recipients":[{"token":"0A"},{"token":"0B","topic":"com.example.b"},{"token":"0C"}]}"#,
            Sender.token.context)
        #expect(job.lines.isEmpty && job.chunks[0].batches.map(\.hasOwnTopic) == [false, true, false])
    }

    @Test(arguments: [
        (Sender.tokenWithoutTopic, "", "MissingTopic", "a key is valid for many apps, and no topic is set"),
        (.certificate, #","topic":"com.example.b""#, "BadTopic", "the certificate is not for topic com.example.b"),
        (
            .certificate, #","push_type":"complication""#, "InvalidPushType",
            "the certificate is not for topic com.example.app.complication"
        ),
        (
            .certificate, #","push_type":"widgets""#, "InvalidPushType",
            "a push of type widgets cannot be sent with a certificate"
        ),
        (
            .oldCertificate, #","push_type":"location""#, "InvalidPushType",
            "a push of type location cannot be sent with a certificate"
        ),
        (
            .token, #","topic":"com.example.app","push_type":"voip""#, "BadTopic",
            "the topic of a push of type voip must end in .voip"
        ),
    ])
    func `a topic that the credentials are not good for is a fault of the job`(
        sender: Sender, members: String, reason: String, message: String
    ) {
        let job = read(members, sender)
        #expect(job.summary.failure == .invalid && job.summary.fault?.message == message, "\(job.lines)")
        let recipient = json(
            #"{"alert":"x","recipients":[{"token":"0B","topic":"com.example.c"},{"token":"0A","badge":1\#(members)}]}"#,
            sender.context)
        #expect(recipient.sent.last?.reason == reason, "\(recipient.lines)")
    }

    @Test func `a token sends every type that a certificate does not`() {
        for type in ["location", "widgets", "controls"] {
            #expect(read(#","push_type":"\#(type)","priority":5"#, .token).summary.failure == nil, "\(type)")
        }
    }

    @Test func `the binary protocol knows nothing of it`() {
        var context = context(.frame)
        context.identity = .certificate(topics: ["com.example.other"])
        #expect(json(#"{"token":"0A","alert":"x"}"#, context).lines.isEmpty)
    }

    @Test(arguments: [("5", true), ("10", true), ("1", false)])
    func `a push that asks for the location is not for another time`(priority: String, isGood: Bool) {
        let job = read(#","push_type":"location","priority":\#(priority)"#, .token)
        #expect((job.summary.failure == nil) == isGood)
        if !isGood { #expect(job.summary.fault?.message == "a location push must have priority 10 or 5") }
    }

    @Test func `every batch says when it is given up`() {
        let standard = read("", .token).chunks[0].batches
        #expect(standard.map(\.giveUpAt) == [(noon + .seconds(86_400)).unset])
        #expect(
            read(#","give_up_after":"4h""#, .token).chunks[0].batches.map(\.giveUpAt) == [
                (noon + .seconds(14_400)).unset
            ])
        let lines = lines("{\"job\":{\"give_up_after\":\"1h\"},\"defaults\":{\"alert\":\"x\"}}\n\"0A\"\n")
        #expect(lines.chunks[0].batches.map(\.giveUpAt) == [(noon + .seconds(3600)).unset])
    }
}
