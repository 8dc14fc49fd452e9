import Document
import DoorModel
import JSON
import PushModel
import Testing

/// The notifications of gorush's clients, and the jobs that become of them.
struct GorushRequestTests {
    private static func notification(_ members: String) throws -> GorushRequest.Notification {
        var parser = JSON.Parser()
        let usual = [#""tokens":["aa"]"#, #""platform":1"#].filter { !members.contains($0.prefix { $0 != ":" }) }
        let body = #"{"notifications":[{\#((usual + [members]).joined(separator: ","))}]}"#
        let now = WallTime(epochSeconds: 1_795_262_400)
        return try #require(try GorushRequest(parser.parse(Array(body.utf8)).root, at: now).notifications.first)
    }

    private static func job(_ members: String) throws -> String {
        let notification = try notification(members)
        return String(
            decoding: try #require(notification.jobs.first, "\(notification.fault ?? "")").bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("message", "5"), ("title", "[]"), ("topic", "{}"), ("push_type", "1"), ("collapse_id", "1"), ("apns_id", "1"),
        ("to", "1"), ("name", "1"), ("priority", "10"), ("category", "1"), ("thread-id", "1"), ("event", "1"),
        ("interruption_level", "1"), ("attributes-type", "1"), ("content_available", "1"),
        ("mutable_content", #""yes""#),
        ("production", "1"), ("development", #""true""#), ("badge", #""1""#), ("badge", "1.5"), ("expiration", #""0""#),
        ("expiration", "1e3"), ("timestamp", #""1""#), ("stale-date", #""1""#), ("dismissal-date", "true"),
        ("relevance-score", #""1""#), ("volume", #""1""#), ("data", "[]"), ("content-state", "1"), ("attributes", "[]"),
        ("alert", #""x""#), ("url-args", #""x""#), ("url-args", "[1]"), ("sound", "5"), ("tokens", #""aa""#),
        ("tokens", #"["aa",5]"#), ("platform", #""1""#), ("retry", #""1""#), ("notif_id", "1"), ("MESSAGE", "5"),
        ("alert", #"{"body":1}"#), ("alert", #"{"Loc-Args":"x"}"#), ("alert", #"{"summary-arg-count":"1"}"#),
        ("sound", #"{"critical":true}"#), ("sound", #"{"volume":"1"}"#),
    ])
    func `a field of a wrong type is refused under its name`(_ name: String, _ value: String) throws {
        let notification = try Self.notification("\"\(name)\":\(value)")
        #expect(notification.jobs.isEmpty)
        let fault = try #require(notification.fault)
        #expect(fault.hasPrefix(name.lowercased()) && fault.contains(": expected "), "\(fault)")
    }

    @Test(arguments: [
        (#""message":"x","title":null"#, #""aps":{"alert":"x"}"#),
        (#""MESSAGE":"x","Topic":"t""#, #""topic":"t","payload":{"aps":{"alert":"x"}}"#),
        (#""message":"y","Message":"x""#, #""aps":{"alert":"x"}"#),
        (#""message":"x","expiration":0"#, #""expiration":0"#), (#""message":"x","expiration":1"#, #""expiration":0"#),
        (#""message":"x","expiration":1795262400"#, #""expiration":0"#),
        (#""message":"x","expiration":1795262401"#, #""expiration":1795262401"#),
        (
            #""message":"x","badge":0,"stale-date":0,"dismissal-date":0,"timestamp":0"#,
            #""aps":{"alert":"x","badge":0}"#
        ),
        (#""message":"x","relevance-score":0.0,"attributes":{},"url-args":[],"event":"""#, #""aps":{"alert":"x"}}"#),
        (
            #""message":"x","event":"start","attributes-type":"A","attributes":{"a":1},"relevance-score":0.5"#,
            #""event":"start","attributes-type":"A","attributes":{"a":1},"relevance-score":0.5"#
        ),
        (
            #""interruption_level":"passive","mutable_content":true"#,
            #""interruption-level":"passive","mutable-content":1"#
        ),
        (#""name":"n","volume":0"#, #""sound":{"critical":1,"name":"n","volume":1}"#),
        (#""name":"n","volume":0.5"#, #""sound":{"critical":1,"name":"n","volume":0.5}"#),
        (#""volume":2e-1"#, #""sound":{"critical":1,"name":"default","volume":2e-1}"#),
        (#""sound":{"critical":0,"name":"n","volume":0,"x":1}"#, #""sound":{"name":"n"}"#),
        (#""sound":"chime""#, #""sound":"chime""#),
        (#""message":"x","sound":{}"#, #""aps":{"alert":"x"}}"#),
        (#""message":"x","sound":"""#, #""aps":{"alert":"x"}}"#),
        (#""message":"x","sound":{"critical":0,"volume":0.0,"x":1}"#, #""aps":{"alert":"x"}}"#),
        (
            #""title":"t","message":"m","alert":{"Body":"b","loc-args":["1"],"summary-arg-count":0}"#,
            #""alert":{"title":"t","body":"b","loc-args":["1"]}"#
        ),
    ])
    func `a field has the effect that it has in gorush`(_ members: String, _ part: String) throws {
        let job = try Self.job(members)
        #expect(job.contains(part), "\(job)")
    }

    @Test(arguments: [#""platform":3"#, #""platform":0"#, #""platform":4,"priority":5"#])
    func `a platform that pushspool does not push to is refused, whatever the fields are`(_ members: String) throws {
        let fault = try Self.notification(members).fault
        #expect(fault == "platform must be 1 (iOS) or 2 (Android); pushspool pushes to no other")
    }
}
