import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

struct DeliveryRuleTests {
    private func messages(_ job: ReadJob) -> [String] {
        job.diagnostics.map { [$0.path, $0.message].compactMap(\.self).joined(separator: ": ") }
    }

    @Test func `a silent payload is a background push of priority 5`() {
        for text in [#""content_available": 1"#, #""payload": {"aps":{"content-available":1},"x":1}"#] {
            let attributes = json("{\"token\":\"0A\",\(text)}").sent[0].attributes
            #expect(attributes?.pushType == .background && attributes?.priority == .powerSaving)
        }
        let loud = json(#"{"token":"0A","alert":"x","content_available":1}"#).sent[0].attributes
        #expect(loud?.pushType == .alert && loud?.priority == .immediate)
    }

    @Test(arguments: [
        (
            #""push_type":"background","alert":"x""#,
            ["a background push needs content-available 1", "a background push must not alert, badge or sound"]
        ),
        (
            #""push_type":"background","content_available":1,"badge":1"#,
            ["a background push must not alert, badge or sound"]
        ),
        (#""content_available":1,"priority":10"#, ["priority: a background push must not have priority 10"]),
        (
            #""content_available":1,"push_type":"alert","priority":10"#,
            ["priority: a payload with `content-available` alone must not have priority 10"]
        ),
        (
            #""push_type":"liveactivity","payload":{"aps":{"event":"update","content-state":{}}}"#,
            ["payload: a Live Activity push needs `timestamp` in `aps`"]
        ),
        (
            #""push_type":"liveactivity","payload":{"aps":{"event":"start","timestamp":1,"content-state":{}}}"#,
            ["payload: a Live Activity push needs `alert`, `attributes-type`, `attributes` in `aps`"]
        ),
        (
            #""push_type":"liveactivity","priority":1,"payload":{"aps":{"event":"end","timestamp":1,"content-state":{}}}"#,
            ["priority: a Live Activity push must have priority 10 or 5"]
        ),
        (#""push_type":"alerts","alert":"x""#, ["push_type: unknown push type `alerts`"]),
        (#""priority":true,"alert":"x""#, ["priority: must be 10, 5 or 1, unquoted (got `true`)"]),
        (#""collapse_id":"","alert":"x""#, ["collapse_id: must have 1 to 64 bytes (got 0)"]),
        (#""collapse_id":" a","alert":"x""#, ["collapse_id: must not begin or end with a space or tab"]),
        (#""collapse_id":"a\t","alert":"x""#, ["collapse_id: must not begin or end with a space or tab"]),
        (#""collapse_id":"  ","alert":"x""#, ["collapse_id: must not begin or end with a space or tab"]),
        (#""collapse_id":"a\tb","alert":"x""#, ["collapse_id: must not contain control characters"]),
        (#""collapse_id":"a\r\nb","alert":"x""#, ["collapse_id: must not contain control characters"]),
        (#""topic":"a b","alert":"x""#, ["topic: contains a space, which no bundle identifier has"]),
        (#""topic":"a.b\n","alert":"x""#, ["topic: contains U+000A, which no bundle identifier has"]),
        (#""topic":"a..b","alert":"x""#, ["topic: has an empty part before, between or after its periods"]),
        (#""topic":"","alert":"x""#, ["topic: is empty"]),
    ])
    func `what does not go together is refused`(members: String, expected: [String]) {
        let job = json("{\"token\":\"0A\",\(members)}")
        #expect(messages(job) == expected && job.summary.failure == .invalid)
    }

    @Test func `a topic that is hardly right is sent with a warning`() {
        let job = json(#"{"token":"0A","topic":"ABCDE12345.com.example","alert":"x"}"#)
        #expect(messages(job) == ["topic: begins with what looks like a team id, ABCDE12345"])
        #expect(job.sent[0].attributes?.topic == "ABCDE12345.com.example" && job.summary.failure == nil)
    }

    @Test func `the update of a pass has an empty payload`() {
        var pass = context()
        (pass.topic, pass.identity) = ("pass.com.example.card", .certificate(topics: ["pass.com.example.card"]))
        for (text, context) in [
            (#"{"token":"0A","payload":{}}"#, pass), (#"{"token":"0A","payload":{},"push_type":"background"}"#, pass),
            (#"{"token":"0A","payload":{},"topic":"pass.com.example.card"}"#, context()),
        ] {
            let job = json(text, context)
            #expect(messages(job) == [] && job.payloads == ["{}"])
        }
        let job = json(#"{"token":"0A","payload":{}}"#)
        #expect(messages(job) == ["payload: a push of type alert needs `aps`"] && job.summary.failure == .invalid)
        #expect(job.diagnostics[0].hint?.hasSuffix("; `{}` is for topics that begin with pass.") == true)
    }

    @Test func `an empty payload may be right as long as the topic is not known`() {
        var unknown = context()
        unknown.topic = nil
        #expect(json(#"{"token":"0A","payload":{}}"#, unknown).payloads == ["{}"])
        #expect(json(#"{"token":"0A","payload":{"x":1}}"#, unknown).summary.failure == .invalid)
    }

    @Test func `a collapse id has at most 64 bytes`() {
        let fits = json("{\"token\":\"0A\",\"alert\":\"x\",\"collapse_id\":\"\(String(repeating: "é", count: 32))\"}")
        #expect(fits.sent[0].attributes?.collapseID?.utf8.count == 64)
        let beyond = json("{\"token\":\"0A\",\"alert\":\"x\",\"collapse_id\":\"\(String(repeating: "é", count: 33))\"}")
        #expect(messages(beyond) == ["collapse_id: must have 1 to 64 bytes (got 66)"])
    }

    @Test(arguments: [
        (Carrier.simple, "alert", 256), (.enhanced, "alert", 256), (.frame, "alert", 2048), (.http2, "alert", 4096),
        (.http2, "voip", 5120),
    ])
    func `a payload may have as many bytes as its carrier takes, and not one more`(
        carrier: Carrier, type: String, limit: Int
    ) {
        for excess in 0...1 {
            let text = String(repeating: "x", count: limit - 20 + excess)
            let job = json("{\"token\":\"0A\",\"push_type\":\"\(type)\",\"alert\":\"\(text)\"}", context(carrier))
            let fault = "the payload has \(limit + 1) bytes; the limit is \(limit)"
            #expect(job.summary.fault?.message == (excess == 0 ? nil : fault))
        }
    }

    @Test func `the binary protocol says what it does not carry`() {
        let text = #"{"token":"0A","alert":"x","push_type":"alert","collapse_id":"c","priority":5,"expiration":"+1h"}"#
        #expect(messages(json(text, context(.http2))).isEmpty)
        #expect(
            messages(json(text, context(.frame))) == [
                "push_type: is not supported by the binary protocol",
                "collapse_id: is not supported by the binary protocol",
            ])
        #expect(messages(json(text, context(.enhanced))).count == 3)
        #expect(messages(json(text, context(.simple))).count == 4)
        #expect(json(text, context(.simple)).summary.failure == nil)
    }

    @Test func `on the binary protocol the certificate names the topic`() {
        let own = #"{"token":"0A","alert":"x","topic":"com.example.app"}"#
        #expect(messages(json(own, context(.frame))).isEmpty)
        let other = #"{"token":"0A","alert":"x","topic":"com.example.other"}"#
        #expect(messages(json(other, context(.frame))) == ["topic: the certificate sets the topic, `com.example.app`"])
        #expect(json(other, context(.http2)).sent[0].attributes?.topic == "com.example.other")
    }

    @Test func `the binary protocol knows two priorities`() {
        let text = #"{"token":"0A","alert":"x","priority":1}"#
        #expect(messages(json(text, context(.frame))) == ["priority: must be 10 or 5, unquoted (got `1`)"])
        #expect(json(text).sent[0].attributes?.priority == .lowest)
    }

    @Test(arguments: PushType.allCases)
    func `every push type is taken with a body of its kind`(type: PushType) {
        let bodies: [PushType: String] = [
            .background: #"{"aps":{"content-available":1}}"#, .mdm: #"{"mdm":"magic"}"#,
            .liveactivity: #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#,
            .widgets: #"{"aps":{"content-changed":true}}"#, .controls: #"{"aps":{"content-changed":true}}"#,
            .alert: #"{"aps":{"alert":"x"}}"#, .fileprovider: #"{"container-identifier":"c","domain":"d"}"#,
        ]
        let body = bodies[type] ?? "{}"
        let job = json("{\"token\":\"0A\",\"push_type\":\"\(type.rawValue)\",\"payload\":\(body)}")
        #expect(job.lines.isEmpty && job.payloads == [body] && job.sent[0].attributes?.pushType == type)
    }
}

/// Members of `aps` that have no effect in a push of their type: warnings with their place, never faults.
struct MisplacedMemberTests {
    private static let activity = #""event":"update","timestamp":1,"content-state":{}"#

    /// A job's members, and what is said of them.
    struct Case: Sendable, CustomTestStringConvertible {
        let members: String
        let words: [String]

        init(_ members: String, _ words: String...) { (self.members, self.words) = (members, words) }

        var testDescription: String { members }
    }

    @Test(arguments: [
        Case(
            #""payload":{"aps":{"alert":"x","content-state":{}}}"#,
            "payload.aps.content-state: `content-state` belongs to pushes of type liveactivity"),
        Case(
            #""payload":{"aps":{"alert":"x","content-changed":true}}"#,
            "payload.aps.content-changed: `content-changed` belongs to pushes of type controls and widgets"),
        Case(
            #""push_type":"liveactivity","payload":{"aps":{\#(activity),"badge":1,"category":"a"}}"#,
            "payload: `badge` belongs to pushes of type alert",
            "payload.aps.category: `category` belongs to pushes of type alert"),
        Case(
            #""push_type":"liveactivity","payload":{"aps":{\#(activity),"attributes":{},"dismissal-date":2}}"#,
            "payload.aps.attributes: `attributes` belongs to the event start",
            "payload.aps.dismissal-date: `dismissal-date` belongs to the event end"),
        Case(
            #""push_type":"widgets","payload":{"aps":{"content-changed":true,"mutable-content":1,"alert":"x"}}"#,
            "payload: `alert` belongs to pushes of type alert and liveactivity",
            "payload.aps.mutable-content: `mutable-content` belongs to pushes of type alert"),
        Case(
            #""push_type":"background","content_available":1,"category":"a""#,
            "category: `category` belongs to pushes of type alert"),
        Case(
            #""payload":{"aps":{"alert":"x","relevance-score":75}}"#,
            "payload: `relevance-score` is not between 0 and 1"),
        Case(
            #""payload":{"aps":{"alert":"x","sound":{"critical":1,"name":"a","volume":2}}}"#,
            "payload.aps.sound.volume: is not between 0 (silent) and 1 (full)"),
        Case(
            #""push_type":"liveactivity","payload":{"aps":{"event":"start","timestamp":1,"content-state":{},"alert":"x","attributes-type":"A","attributes":{},"input-push-token":1,"input-push-channel":"YWI="}}"#,
            "payload: `input-push-token` and `input-push-channel` exclude each other"),
    ])
    func `what has no effect is warned about, with its place, and sent`(one: Case) {
        let job = json("{\"token\":\"0A\",\(one.members)}")
        let warnings = job.diagnostics.map { [$0.path, $0.message].compactMap(\.self).joined(separator: ": ") }
        #expect(warnings == one.words)
        #expect(job.summary.failure == nil && job.sent.count == 1 && job.sent[0].reason == nil)
        #expect(job.diagnostics.allSatisfy { $0.severity == .warning && $0.place != nil })
    }

    @Test(arguments: [
        #""push_type":"liveactivity","payload":{"aps":{\#(activity),"stale-date":2,"relevance-score":75,"alert":{"title":"a","body":"b","sound":"c"}}}"#,
        #""push_type":"liveactivity","payload":{"aps":{"event":"end","timestamp":1,"content-state":{},"dismissal-date":2}}"#,
        #""push_type":"voip","payload":{"aps":{"content-state":{},"alert":"x"},"call":1}"#,
        #""push_type":"controls","payload":{"aps":{"content-changed":true}}"#,
        #""payload":{"aps":{"alert":"x","badge":1,"sound":"s","thread-id":"t","category":"c","relevance-score":0.5,"interruption-level":"active","filter-criteria":"f","target-content-id":"i","url-args":[],"mutable-content":1,"content-available":1}}"#,
        #""alert":"x","thread_id":"t","category":"c","mutable_content":true,"interruption_level":"passive""#,
    ])
    func `what belongs together, and what is the app's own, gets no warning`(members: String) {
        #expect(json("{\"token\":\"0A\",\(members)}").lines == [])
    }

    @Test func `the line of a member is told, and Apple's page`() {
        let text = "{\"token\":\"0A\",\n\"payload\":{\"aps\":{\"alert\":\"x\",\n\"stale-date\":1}}}"
        #expect(
            json(text).lines == [
                "job:3:1: warning: payload.aps.stale-date: `stale-date` belongs to pushes of type liveactivity\nhint: remove it, or set push_type (Apple, \"Starting and updating Live Activities with ActivityKit push notifications\")"
            ])
    }
}
