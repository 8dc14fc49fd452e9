import Document
import JSON
import Testing

@testable import FCMModel

struct MessageFieldTests {
    private func node(_ json: String) throws -> Node {
        var parser = JSON.Parser()
        return try parser.parse(Array("[\(json)]".utf8)).root.elements.first { _ in true }
            ?? Node(tape: Tape(), index: 0)
    }

    @Test(arguments: [
        (MessageType.message, "fcm_options", "fcmOptions"), (.message, "android_v2", "androidV2"),
        (.androidNotification, "body_loc_key", "bodyLocKey"), (.androidConfig, "ttl", "ttl"),
        (.remoteNotification, "use_as_v1_data_message", "useAsV1DataMessage"),
    ])
    func `a member has two spellings`(type: MessageType, name: String, jsonName: String) {
        let field = type.field(named: name)
        #expect(field?.name == name && field?.jsonName == jsonName && type.field(named: jsonName) == field)
    }

    @Test func `every message has each name once`() {
        for type in MessageType.allCases { #expect(Set(type.fields.map(\.name)).count == type.fields.count, "\(type)") }
    }

    @Test func `only the second version of the configuration for Android lacks priority and notification`() {
        let (first, second) = (MessageType.androidConfig, MessageType.androidConfigV2)
        let names = Set(first.fields.map(\.name)).subtracting(second.fields.map(\.name))
        #expect(names == ["priority", "notification"])
    }

    @Test(arguments: [
        (ScalarType.string, [#""x""#, #""""#], ["1", "true", "[]"]),
        (.boolean, ["true", "false"], ["1", #""true""#]),
        (.int32, ["0", "-2147483648", "2147483647", #""17""#], ["2147483648", "1.5", #""x""#, "true", "[]"]),
        (.fraction, ["0", "1", "0.25"], ["-0.1", "1.1", "[]"]),
        (
            .duration, [#""0s""#, #""3.5s""#, #""0.000000001s""#],
            [#""3""#, "3", #""3.s""#, #""1h""#, #""-1s""#, #""s""#]
        ),
        (.lifetime, [#""0s""#, #""2419200s""#], [#""2419201s""#, #""2419200.1s""#, #""-1s""#]),
        (
            .timestamp, [#""2026-11-22T06:00:00Z""#, #""2026-11-22T06:00:00.123456789+01:00""#],
            [#""2026-11-22""#, #""2026-11-22T06:00:00""#, #""2026-11-22T06:00:00.Z""#, "1795262400"]
        ),
        (.color, ["\"#ff8000\"", "\"#FF8000\""], ["\"red\"", "\"#ff80\"", "\"#ff80000\"", "\"#gg8000\""]),
        (.analyticsLabel, [#""a-1_.~%""#], [#""""#, #""a b""#, "\"\(String(repeating: "a", count: 51))\""]),
        (.link, [#""https://example.com""#], [#""http://example.com""#, #""example.com""#]),
        (.choice(.messagePriority), [#""HIGH""#, #""normal""#], [#""LOW""#, "10"]),
        (.choice(.notificationPriority), [#""PRIORITY_MAX""#, #""priority_min""#], [#""MAX""#]),
    ])
    func `a type takes the values that FCM takes`(type: ScalarType, good: [String], bad: [String]) throws {
        for json in good { #expect(type.accepts(try node(json)), "\(json)") }
        for json in bad { #expect(!type.accepts(try node(json)), "\(json)") }
    }

    @Test(arguments: [
        ("from", true, false), ("message_type", true, false), ("google.x", true, true), ("google", false, true),
        ("gcm.notification.x", true, true), ("gcm.x", false, true), ("order", false, false),
        ("collapse_key", false, false),
    ])
    func `some keys of data are reserved`(key: String, isReserved: Bool, wasReserved: Bool) {
        #expect(DataKey.isReserved(key) == isReserved && DataKey.wasReserved(key) == wasReserved)
    }
}
