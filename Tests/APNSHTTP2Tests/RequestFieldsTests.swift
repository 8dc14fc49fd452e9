import APNSHTTP2
import APNSModel
import HTTP2
import PushModel
import TestSupport
import Testing

struct RequestFieldsTests {
    private let job = JobID(bits: 0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF)

    private func head(
        _ attributes: Attributes = Attributes(), channel: String? = nil, app: String? = "com.example.app",
        authorization: String? = nil
    ) -> RequestHead {
        let sender = RequestFields.Sender(authority: "api.push.apple.com", app: app, authorization: authorization)
        let measures = RequestFields.Measures(tokenByteCount: 32, payloadByteCount: 4_096)
        return RequestFields.head(attributes, channel: channel, measures, from: sender)
    }

    @Test func `an ordinary notification has the headers of Apple's table`() {
        let fields = head(authorization: "bearer x").fields
        #expect(
            fields == [
                RequestHead.Field(":method", .text("POST"), kept: .field),
                RequestHead.Field(":scheme", .text("https"), kept: .field),
                RequestHead.Field(":authority", .text("api.push.apple.com"), kept: .field),
                RequestHead.Field(":path", .hole(prefix: Array("/3/device/".utf8), byteCount: 64)),
                RequestHead.Field("authorization", .text("bearer x"), kept: .field),
                RequestHead.Field("apns-topic", .text("com.example.app"), kept: .field),
                RequestHead.Field("apns-push-type", .text("alert"), kept: .field),
                RequestHead.Field("apns-priority", .text("10"), kept: .field),
                RequestHead.Field("apns-id", .hole(byteCount: 36), kept: .name),
                RequestHead.Field("apns-expiration", .text("0"), kept: .name),
                RequestHead.Field("content-length", .hole(byteCount: 4)),
            ])
    }

    @Test func `what a job asks for is in the headers`() {
        var attributes = Attributes(
            pushType: .voip, priority: .powerSaving, expiration: Expiration(epochSeconds: 1_800_000_000))
        attributes.collapseID = "score"
        let fields = head(attributes).fields
        #expect(fields.contains(.init("apns-topic", .text("com.example.app.voip"), kept: .field)))
        #expect(fields.contains(.init("apns-push-type", .text("voip"), kept: .field)))
        #expect(fields.contains(.init("apns-priority", .text("5"), kept: .field)))
        #expect(fields.contains(.init("apns-expiration", .text("1800000000"), kept: .name)))
        #expect(fields.last == .init("apns-collapse-id", .text("score"), kept: .name))
    }

    @Test func `a broadcast has the headers of Apple's page, no topic, and the bundle identifier in its path`() {
        var attributes = Attributes(pushType: .liveactivity, priority: .powerSaving)
        attributes.addressKind = .channel
        #expect(
            head(attributes, channel: "dHN0LXNyY2gtY2hubA==", authorization: "bearer x").fields == [
                RequestHead.Field(":method", .text("POST"), kept: .field),
                RequestHead.Field(":scheme", .text("https"), kept: .field),
                RequestHead.Field(":authority", .text("api.push.apple.com"), kept: .field),
                RequestHead.Field(
                    ":path", .hole(prefix: Array("/4/broadcasts/apps/com.example.app".utf8), byteCount: 0)),
                RequestHead.Field("authorization", .text("bearer x"), kept: .field),
                RequestHead.Field("apns-channel-id", .text("dHN0LXNyY2gtY2hubA=="), kept: .field),
                RequestHead.Field("apns-push-type", .text("liveactivity"), kept: .field),
                RequestHead.Field("apns-priority", .text("5"), kept: .field),
                RequestHead.Field("apns-request-id", .hole(byteCount: 36), kept: .name),
                RequestHead.Field("apns-expiration", .text("0"), kept: .name),
                RequestHead.Field("content-length", .hole(byteCount: 4)),
            ])
    }

    /// The fields of a broadcast that @parse/node-apn puts on the wire, from its sources (lib/client.js, lib/notification): the
    /// expiration only if one is set, and the priority only if it is not 10. Apple's page requires both.
    @Test func `a broadcast has the fields that another client sends, and those that Apple requires besides`() {
        let theirs: Set = [
            ":method", ":scheme", ":authority", ":path", "authorization", "apns-channel-id", "apns-push-type",
            "apns-request-id",
        ]
        var attributes = Attributes(pushType: .liveactivity, priority: .immediate)
        attributes.addressKind = .channel
        let ours = Set(head(attributes, channel: "dHN0LXNyY2gtY2hubA==", authorization: "bearer x").fields.map(\.name))
        #expect(ours.subtracting(theirs) == ["apns-priority", "apns-expiration", "content-length"])
        #expect(theirs.subtracting(ours).isEmpty)
    }

    @Test func `a job's own topic is sent as it is`() {
        let fields = head(Attributes(topic: "com.example.other", pushType: .voip)).fields
        #expect(fields.contains(.init("apns-topic", .text("com.example.other"), kept: .field)))
    }

    @Test func `a sender never prints what it sends as`() {
        let sender = RequestFields.Sender(authority: "h", app: "a.b", authorization: "bearer hunter2")
        var dumped = ""
        dump(sender, to: &dumped)
        #expect("\(sender)" == "a.b at h" && !dumped.contains("hunter2"))
    }

    @Test func `nobody's topic leaves it to the certificate`() {
        #expect(!head(app: nil).fields.contains { $0.name == "apns-topic" || $0.name == "authorization" })
    }

    @Test func `after the first request a block holds little but what differs`() {
        var encoder = HeaderEncoder()
        let head = head(authorization: "bearer " + String(repeating: "x", count: 184))
        #expect(!encoder.encode(head).isRepeatable)
        let block = encoder.encode(head)
        #expect(block.isRepeatable && block.holes.count == 3)
        #expect(block.bytes.count < 160, "\(block.bytes.count)")
    }

    @Test(arguments: [1, 8, 31, 32, 33, 100])
    func `token and id are filled in where the holes are, and nowhere else`(tokenByteCount: Int) throws {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            let token = DeviceToken(bytes: (0..<tokenByteCount).map { _ in UInt8.random(in: 0...255, using: &random) })
            let id = NotificationID(
                job: JobID(bits: .random(in: 0...(.max), using: &random)), index: .random(in: 0...9, using: &random))
            let (tokenAt, idAt) = (3, 3 + 2 * tokenByteCount + 5)
            var bytes = [UInt8](repeating: UInt8(ascii: "#"), count: idAt + 36 + 2)
            var output = bytes.mutableSpan
            RequestFields.fill(token.bytes.span, id, into: &output, at: (token: tokenAt, id: idAt))
            #expect(String(decoding: bytes, as: UTF8.self) == "###\(token.hex)#####\(id)##", "seed \(seed)")
        }
    }

    @Test func `a request on a sheet names its token and its id`() throws {
        var encoder = HeaderEncoder()
        _ = encoder.encode(head())
        let block = encoder.encode(head())
        var sheet = RequestSheet(byteLimit: 10_000)
        sheet.layOut(block, body: Array("{}".utf8), count: 3)
        let token = DeviceToken(bytes: 0..<32)
        let holes = (0..<3).map { request in
            (
                token: sheet.offset(ofHole: RequestFields.tokenHole, request: request),
                id: sheet.offset(ofHole: RequestFields.idHole, request: request)
            )
        }
        sheet.withHoles { output in
            for request in 0..<3 {
                let id = NotificationID(job: job, index: request)
                RequestFields.fill(token.bytes.span, id, into: &output, at: holes[request])
            }
        }
        sheet.withFrames { frames in
            let text = String(decoding: frames.indices.map { frames[$0] }, as: Unicode.ASCII.self)
            for request in 0..<3 {
                #expect(text.contains(NotificationID(job: job, index: request).description))
            }
            #expect(text.components(of: "/3/device/\(token.hex)") == 3)
        }
    }
}

extension String {
    /// How often `part` is in it.
    fileprivate func components(of part: String) -> Int {
        indices.count { self[$0...].hasPrefix(part) }
    }
}
