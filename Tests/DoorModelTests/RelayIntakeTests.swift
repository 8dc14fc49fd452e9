import APNSHTTP2
import APNSModel
import APNSServing
import Document
import DoorModel
import HTTP2
import JSON
import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

/// What the relay makes of single requests.
struct RelayIntakeTests {
    private static let now = (moment: Moment.zero + .seconds(100), wallTime: WallTime(epochSeconds: 1_795_262_400))
    private static let id = "123e4567-e89b-12d3-a456-42665544000a"
    private static let device = String(repeating: "ab", count: 32)

    private typealias Intake = RelayIntake<JSON.Parser>

    /// A relay for two producers, with a key each, and three apps.
    private static func intake(lifetime: Duration = .seconds(3600)) -> Intake {
        var fleet = Producer(name: "fleet")
        fleet.apps = ["weather", "voice"]
        let billing = Producer(name: "billing")
        var intake = Intake(
            parser: JSON.Parser(), (RecentIDs(lifetime: lifetime), KnownGone(lifetime: .seconds(3600))),
            idBase: JobID(bits: 1), recordsAll: false)
        _ = intake.admit([fleet, billing]) { $0.signature == [1] ? "fleet" : $0.signature == [2] ? "billing" : nil }
        var list = AppList(node: "a", limits: DocumentLimits())
        for (name, topic) in [
            ("news", "com.example.news"), ("voice", "com.example.voice"), ("weather", "com.example.app"),
        ] {
            var app = AppList.App(name: name, carrier: .http2)
            app.topic = topic
            list.apps.append(app)
        }
        list.mark = 17
        setApps(list, of: &intake)
        return intake
    }

    private static func setApps(_ list: AppList, of intake: inout Intake) {
        let router = AppRouter([list])
        intake.setApps(router, contexts: router.apps.map { context(topic: $0.topic) })
    }

    private static func context(topic: String?) -> JobContext {
        var context = JobContext(job: JobID(bits: 0), droppedAt: now.wallTime, carrier: .http2) {
            text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        (context.topic, context.identity) = (topic, .providerToken)
        return context
    }

    /// The value of `authorization` that a producer's key signed.
    private static func token(_ signature: UInt8, issued: Int64 = 1_795_262_000, key: String = "DOORKEY001") -> String {
        guard let identity = ProviderIdentity(keyID: key, teamID: "FLEETTEAM1") else { return "bearer of no name" }
        return "bearer " + ProviderToken(identity: identity, issuedAt: issued, signature: [signature]).text
    }

    /// The head of a request. `fields` are set after, or with `nil` removed from, the usual ones.
    private static func reading(_ fields: [(String, String?)] = [], malformed: String? = nil) -> RequestReading {
        var all = [
            (":method", "POST"), (":path", "/3/device/\(device)"), ("authorization", token(1)),
            ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-id", id),
        ]
        for (name, value) in fields {
            all.removeAll { $0.0 == name }
            if let value { all.append((name, value)) }
        }
        var list = HeaderFields()
        for (name, value) in all { list.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        var reading = RequestReading(takesCapitals: true)
        reading.read(list, malformed: malformed)
        return reading
    }

    private static let body = #"{"aps":{"alert":"Hello"}}"#

    private func decide(
        _ intake: inout Intake, _ fields: [(String, String?)] = [], body: String = body,
        _ client: RelayClient = RelayClient(certificateProducer: nil)
    ) -> (decision: Intake.Decision, id: NotificationID) {
        var client = client
        return intake.decide(
            on: Self.reading(fields), body: Array(body.utf8)[...], from: &client, at: Self.now)
    }

    /// The reason of a refusal; empty for an acceptance without spooling; `nil` if it is to be spooled.
    private func reason(_ decision: Intake.Decision) -> String? {
        guard case .answer(let answer) = decision else { return nil }
        return answer.reason
    }

    private func spooled(_ decision: Intake.Decision) throws -> RelayIntake<JSON.Parser>.Spooled {
        guard case .spool(let spooled) = decision else {
            throw NotSpooled(description: "\(decision)")
        }
        return spooled
    }

    private struct NotSpooled: Error, CustomStringConvertible { let description: String }

    // MARK: Loops

    @Test func `a daemon of the relay's own spool is refused, whatever it proves`() {
        var (intake, client) = (Self.intake(), RelayClient(certificateProducer: 0))
        client.mark = 17
        for fields in [[], [("authorization", "bearer of nothing")]] {
            #expect(reason(decide(&intake, fields, client).decision) == "OwnDoor")
        }
    }

    @Test func `a daemon of another spool is a client`() throws {
        var (intake, client) = (Self.intake(), RelayClient(certificateProducer: nil))
        client.mark = 18
        #expect(try spooled(decide(&intake, [], client).decision).app == "weather")
    }

    // MARK: Acceptance

    @Test func `a request becomes a recipient of its app`() throws {
        var intake = Self.intake()
        let (decision, id) = decide(
            &intake,
            [("apns-priority", "5"), ("apns-expiration", "0"), ("apns-collapse-id", #"a"b"#)],
            body: " {\"aps\":{\n}} \r\n")
        let line = try spooled(decision)
        #expect(line.app == "weather" && line.isLine && id.description == Self.id && line.key?.id == id.bits)
        #expect(
            String(decoding: line.bytes, as: UTF8.self)
                == #"{"token":"\#(Self.device)","apns_id":"\#(Self.id)","push_type":"alert","priority":5,"expiration":0,"#
                + #""collapse_id":"a\"b","payload":{"aps":{ }}}"#)
    }

    @Test func `without an id the relay makes one, and the request cannot be repeated`() throws {
        var intake = Self.intake()
        let (decision, id) = decide(&intake, [("apns-id", nil)])
        #expect(try spooled(decision).key == nil && id == NotificationID(job: JobID(bits: 1), index: 1))
    }

    @Test(arguments: [
        ("com.example.app", "alert", false), ("com.example.app.voip", "voip", false), ("com.example.app", nil, false),
    ])
    func `the app's own topic is not written`(topic: String, type: String?, isWritten: Bool) throws {
        var intake = Self.intake()
        let line = try spooled(decide(&intake, [("apns-topic", topic), ("apns-push-type", type)]).decision)
        #expect(String(decoding: line.bytes, as: UTF8.self).contains("topic") == isWritten)
    }

    @Test(arguments: [
        ("{\n\"aps\":\r\n{}\n}", "{ \"aps\":  {} }"),
        ("{\"aps\":{\"alert\":\"\\\\\"\n}}", "{\"aps\":{\"alert\":\"\\\\\" }}"),
        ("{\"aps\":{\"alert\":\"\\n\\\"\"\n}}", "{\"aps\":{\"alert\":\"\\n\\\"\" }}"),
    ])
    func `line feeds between tokens of JSON become spaces`(body: String, payload: String) throws {
        var intake = Self.intake()
        let line = try spooled(decide(&intake, body: body).decision)
        #expect(String(decoding: line.bytes, as: UTF8.self).hasSuffix(#""payload":\#(payload)}"#))
    }

    @Test(arguments: [
        ("0", 0), ("1", 0), ("5", 0), ("1795262399", 0), ("1795262400", 0), ("1795262401", 1_795_262_401),
        ("4294967295", 4_294_967_295),
    ])
    func `an expiration that has passed asks for a single attempt`(value: String, expected: Int) throws {
        var intake = Self.intake()
        for fields in [[("apns-expiration", value)], Self.broadcast(expiration: value)] as [[(String, String?)]] {
            let body = fields.count > 1 ? Self.broadcastBody() : Self.body
            let line = try spooled(decide(&intake, fields, body: body).decision)
            #expect(String(decoding: line.bytes, as: UTF8.self).contains(#","expiration":\#(expected),"#))
        }
    }

    @Test func `a token and an id in capitals are those in small letters`() throws {
        var intake = Self.intake()
        let capitals: [(String, String?)] = [
            ("apns-id", Self.id.uppercased()), (":path", "/3/device/\(Self.device.uppercased())"),
        ]
        let (decision, id) = decide(&intake, capitals)
        let line = try spooled(decision)
        let start = #"{"token":"\#(Self.device)","apns_id":"\#(Self.id)""#
        #expect(String(decoding: line.bytes, as: UTF8.self).hasPrefix(start))
        #expect(id.description == Self.id)
        guard case .follow(line.key) = decide(&intake).decision else {
            Issue.record("the same in small letters is no repetition")
            return
        }
    }

    @Test(arguments: [
        ("voip", "voip"), ("complication", "complication"), ("pushkit.fileprovider", "fileprovider"),
        ("voip-ptt", "pushtotalk"), ("push-type.liveactivity", "liveactivity"), ("location-query", "location"),
    ])
    func `without a push type, the topic's suffix tells it`(suffix: String, type: String) throws {
        var intake = Self.intake()
        let fields: [(String, String?)] = [("apns-topic", "com.example.app.\(suffix)"), ("apns-push-type", nil)]
        let body = type == "liveactivity" ? Self.broadcastBody() : Self.body
        let line = try spooled(decide(&intake, fields, body: body).decision)
        var reader = LinesJobReader(parser: JSON.Parser(), context: Self.context(topic: "com.example.app"))
        reader.append(line.bytes + [UInt8(ascii: "\n")])
        reader.finish()
        #expect(reader.next()?.batches.first?.attributes.pushType.rawValue == type)
    }

    @Test(arguments: [
        ("apns-topic", "BadTopic"), ("apns-push-type", "InvalidPushType"), ("apns-id", "BadMessageId"),
        ("apns-expiration", "BadExpirationDate"), ("apns-priority", "BadPriority"),
        ("apns-collapse-id", "BadCollapseId"), ("user-agent", "BadRequestParams"),
    ])
    func `a request with a malformed field is refused, whatever else it has`(name: String, reason: String) {
        var intake = Self.intake()
        var client = RelayClient(certificateProducer: nil)
        let (decision, _) = intake.decide(
            on: Self.reading(malformed: name), body: Array(Self.body.utf8)[...], from: &client, at: Self.now)
        #expect(self.reason(decision) == reason)
    }

    private static func broadcast(expiration: String = "0") -> [(String, String?)] {
        [
            (":path", "/4/broadcasts/apps/com.example.app"), ("apns-channel-id", "dGlja2VyLTEyMzQ1Njc="),
            ("apns-push-type", "liveactivity"), ("apns-expiration", expiration), ("apns-topic", nil), ("apns-id", nil),
        ]
    }

    /// The payload of a broadcast with a text of this many bytes.
    private static func broadcastBody(_ byteCount: Int = 0) -> String {
        let text = String(repeating: "x", count: byteCount)
        return #"{"aps":{"event":"update","timestamp":1795262400,"content-state":{"a":"\#(text)"}}}"#
    }

    @Test func `a broadcast that is too long is refused as such`() throws {
        var intake = Self.intake()
        let room = 5120 - Self.broadcastBody().utf8.count
        _ = try spooled(decide(&intake, Self.broadcast(), body: Self.broadcastBody(room)).decision)
        for count in [room + 1, room + 1000] {
            guard case .answer(let answer) = decide(&intake, Self.broadcast(), body: Self.broadcastBody(count)).decision
            else {
                Issue.record("it is taken")
                continue
            }
            #expect(answer.status == 413 && answer.reason == "PayloadTooLarge")
        }
    }

    @Test func `a broadcast is a job of its own`() throws {
        var intake = Self.intake()
        let aps = #"{"event":"update","timestamp":1795262400,"content-state":{}}"#
        let (decision, _) = decide(
            &intake,
            [
                (":path", "/4/broadcasts/apps/com.example.app"), ("apns-channel-id", "dGlja2VyLTEyMzQ1Njc="),
                ("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-topic", nil), ("apns-id", nil),
                ("apns-request-id", Self.id),
            ], body: #"{"aps":\#(aps)}"#)
        let job = try spooled(decision)
        #expect(job.app == "weather" && !job.isLine)
        #expect(
            String(decoding: job.bytes, as: UTF8.self)
                == #"{"channel":"dGlja2VyLTEyMzQ1Njc=","apns_id":"\#(Self.id)","push_type":"liveactivity","expiration":0,"#
                + #""payload":{"aps":\#(aps)}}"#)
    }

    // MARK: Refusals

    @Test(
        arguments: [
            ([(":method", "GET")], "MethodNotAllowed"), ([(":path", "/3/devices/ab")], "BadPath"),
            ([(":path", "/3/device/")], "MissingDeviceToken"), ([(":path", "/3/device/abc")], "BadDeviceToken"),
            ([(":path", "/1/apps/com.example.app/channels")], "BadPath"),
            ([("authorization", nil)], "MissingProviderToken"),
            ([("authorization", "bearer x")], "InvalidProviderToken"),
            ([("authorization", token(9))], "InvalidProviderToken"),
            ([("authorization", token(1, issued: 1_795_258_000))], "ExpiredProviderToken"),
            ([("apns-topic", nil)], "MissingTopic"), ([("apns-topic", "com.example.news")], "TopicDisallowed"),
            ([("apns-topic", "com.example.else")], "TopicDisallowed"), ([("apns-id", "7")], "BadMessageId"),
            ([("apns-push-type", "shout")], "InvalidPushType"), ([("apns-priority", "7")], "BadPriority"),
            ([("apns-expiration", "-1")], "BadExpirationDate"), ([("apns-expiration", "")], "BadExpirationDate"),
            ([("apns-expiration", "4294967296")], "BadExpirationDate"),
            ([(":path", "/3/device/xyzxyz")], "BadDeviceToken"), ([(":path", "/3/device/ab/ab")], "BadPath"),
            ([("apns-collapse-id", String(repeating: "x", count: 65))], "BadCollapseId"),
            ([("apns-push-type", "voip")], "BadTopic"),
        ] as [([(String, String?)], String)])
    func `what Apple refuses is refused at once, in Apple's words`(fields: [(String, String?)], reason: String) {
        var intake = Self.intake()
        #expect(self.reason(decide(&intake, fields).decision) == reason)
        // Nothing of it is remembered.
        #expect(self.reason(decide(&intake).decision) == nil)
    }

    @Test(arguments: [
        ("", "PayloadEmpty"), ("{", "BadRequestPayload"), ("[]", "BadRequestPayload"), ("7", "BadRequestPayload"),
        (#"{"aps":{}} {}"#, "BadRequestPayload"), ("{}", "BadPayload"),
        (#"{"aps":{"alert":"\#(String(repeating: "x", count: 4096))"}}"#, "PayloadTooLarge"),
        (#"{"aps":{},"aps":{}}"#, "BadRequestPayload"), ("{\"aps\":{\"alert\":\"two\nlines\"}}", "BadRequestPayload"),
        ("{\"aps\":{\"alert\":\"two\rlines\"}}", "BadRequestPayload"),
        ("{\"aps\":{\"al\nert\":\"x\"}}", "BadRequestPayload"),
        ("{\"aps\":{\"alert\":\"\\\\\\\"\n\"}}", "BadRequestPayload"),
    ])
    func `a payload that the daemon would refuse is refused at once`(body: String, reason: String) {
        var intake = Self.intake()
        #expect(self.reason(decide(&intake, body: body).decision) == reason)
    }

    @Test(arguments: [
        #"{"aps":{}},"token":"0a""#, #"{"aps":{}},"topic":"com.example.news""#, #"{"aps":{}}}"#,
        #"{"aps":{}}}\n{"token":"0b""#,
        #"{},"payload":{"aps":{}}"#, "{\"aps\":{}}}\n{\"token\":\"0b\",\"payload\":{\"aps\":{}}",
    ])
    func `a payload cannot add keys or recipients`(body: String) {
        var intake = Self.intake()
        #expect(reason(decide(&intake, body: body).decision) == "BadRequestPayload")
    }

    @Test(
        arguments: [
            ([("apns-push-type", "voip")], body, "BadTopic"), ([("apns-expiration", "x")], body, "BadExpirationDate"),
            ([], "{}", "BadPayload"), ([], String(body.dropLast()), "BadRequestPayload"),
        ] as [([(String, String?)], String, String)])
    func `a request that is like a good one but for one thing is checked`(
        fields: [(String, String?)], other: String, reason: String
    ) throws {
        var intake = Self.intake()
        for _ in 0..<2 { _ = try spooled(decide(&intake, [("apns-id", nil)]).decision) }
        #expect(self.reason(decide(&intake, fields + [("apns-id", nil)], body: other).decision) == reason)
        let line = try spooled(decide(&intake, [("apns-id", nil), (":path", "/3/device/0a0b")]).decision)
        #expect(String(decoding: line.bytes, as: UTF8.self).hasPrefix(#"{"token":"0a0b","#))
    }

    @Test func `a token that is known to be gone is refused with its time, and another is not`() throws {
        var intake = Self.intake()
        let token = [UInt8](repeating: 0xAB, count: 32)
        intake.gone.note(token, of: "weather", since: WallTime(epochSeconds: 1_700_000_000), at: Self.now.wallTime)
        guard case .answer(let answer) = decide(&intake).decision else {
            Issue.record("it is not answered")
            return
        }
        #expect(answer.status == 410 && answer.reason == "Unregistered" && answer.timestamp == 1_700_000_000_000)
        _ = try spooled(decide(&intake, [(":path", "/3/device/0a0b")]).decision)
        let news = [("authorization", Self.token(2)), ("apns-topic", "com.example.news"), ("apns-id", nil)]
        _ = try spooled(decide(&intake, news).decision)
    }

    // MARK: Repetition

    @Test func `a repeated id is followed while it is spooled, and answered after`() throws {
        var intake = Self.intake()
        let key = try #require(try spooled(decide(&intake).decision).key)
        guard case .follow(key) = decide(&intake).decision else {
            Issue.record("the second is not told to follow the first")
            return
        }
        intake.settle(key, isSpooled: true, at: Self.now.wallTime)
        #expect(reason(decide(&intake).decision)?.isEmpty == true)
        // Another producer's id is another one.
        #expect(
            reason(decide(&intake, [("authorization", Self.token(2)), ("apns-topic", "com.example.news")]).decision)
                == nil)
    }

    @Test func `one id for several devices, or channels, is a request for each`() throws {
        var intake = Self.intake()
        let devices: [[(String, String?)]] = (0..<10).map {
            [(":path", "/3/device/" + String(repeating: "0\($0)", count: 32))]
        }
        for _ in 0..<2 {
            var keys: Set<RecentIDs.Key> = []
            for device in devices { keys.insert(try #require(try spooled(decide(&intake, device).decision).key)) }
            #expect(keys.count == 10)
            for key in keys { intake.settle(key, isSpooled: true, at: Self.now.wallTime) }
            for device in devices { #expect(reason(decide(&intake, device).decision) == "") }
            for key in keys { intake.forget(key) }
        }
        for channel in ["dGlja2VyLTEyMzQ1Njc=", "dGlja2VyLTEyMzQ1Njg="] {
            let fields = Self.broadcast() + [("apns-channel-id", channel), ("apns-request-id", Self.id)]
            _ = try spooled(decide(&intake, fields, body: Self.broadcastBody()).decision)
        }
    }

    @Test func `an id whose job was not dropped may come again`() throws {
        var intake = Self.intake()
        let key = try #require(try spooled(decide(&intake).decision).key)
        intake.settle(key, isSpooled: false, at: Self.now.wallTime)
        #expect(try spooled(decide(&intake).decision).key == key)
    }

    // MARK: Producers

    @Test func `a certificate needs no token`() throws {
        var intake = Self.intake()
        let client = RelayClient(certificateProducer: 1)
        #expect(try spooled(decide(&intake, [("authorization", nil)], client).decision).app == "weather")
    }

    @Test func `a producer that is no longer admitted may use no app`() throws {
        var intake = Self.intake()
        let places = intake.admit([Producer(name: "new"), Producer(name: "billing")]) { _ in "new" }
        #expect(places == [2, 1])
        #expect(reason(decide(&intake, [], RelayClient(certificateProducer: 0)).decision) == "TopicDisallowed")
        #expect(try spooled(decide(&intake, [], RelayClient(certificateProducer: 2)).decision).app == "weather")
    }

    @Test func `a route that was found does not lead to another app when the apps change`() throws {
        var intake = Self.intake()
        var client = RelayClient(certificateProducer: 1)
        for name in [nil, "alpha", "zulu"] {
            if let name {
                var list = AppList(node: "a", limits: DocumentLimits())
                for (name, topic) in [(name, "com.example.other"), ("weather", "com.example.app")] {
                    var app = AppList.App(name: name, carrier: .http2)
                    app.topic = topic
                    list.apps.append(app)
                }
                Self.setApps(list, of: &intake)
            }
            let (decision, _) = intake.decide(
                on: Self.reading([("apns-id", nil)]), body: Array(Self.body.utf8)[...], from: &client, at: Self.now)
            #expect(try spooled(decision).app == "weather")
        }
    }

    @Test func `before it is known which apps there are, clients are told to wait`() {
        var intake = Intake(
            parser: JSON.Parser(), (RecentIDs(lifetime: .zero), KnownGone(lifetime: .zero)), idBase: JobID(bits: 1),
            recordsAll: false)
        _ = intake.admit([Producer(name: "fleet")]) { _ in "fleet" }
        #expect(reason(decide(&intake).decision) == "ServiceUnavailable")
    }

    @Test func `a client keeps its route until the topic, the type or the host changes`() throws {
        var intake = Self.intake()
        var client = RelayClient(certificateProducer: 1)
        for (topic, app) in [
            ("com.example.app", "weather"), ("com.example.app", "weather"), ("com.example.news", "news"),
        ] {
            let reading = Self.reading([("apns-topic", topic), ("apns-id", nil)])
            let (decision, _) = intake.decide(
                on: reading, body: Array(Self.body.utf8)[...], from: &client, at: Self.now)
            #expect(try spooled(decision).app == app)
        }
    }
}
