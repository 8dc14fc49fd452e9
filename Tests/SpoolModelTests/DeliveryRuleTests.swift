import APNSModel
import Document
import JobFormat
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
        (#""topic":"a b","alert":"x""#, ["topic: is not a valid bundle identifier"]),
    ])
    func `what does not go together is refused`(members: String, expected: [String]) {
        let job = json("{\"token\":\"0A\",\(members)}")
        #expect(messages(job) == expected && job.summary.failure == .invalid)
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
