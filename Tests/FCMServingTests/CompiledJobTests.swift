import Document
import Foundation
import JSON
import JobFormat
import PushModel
import TestSupport
import Testing

@testable import FCMServing

/// Whether FCM takes what a job compiles to, and whether a job is refused for what FCM would refuse.
struct CompiledJobTests {
    private static let token = "cXz1AbCdEfGhIjKlMnOpQr:APA91bH"

    /// A message with most members.
    private static let message = ##"""
        {"notification":{"title":"Storm","body":"b","image":"https://example.com/i.png"},"data":{"a":"1"},
         "android":{"collapse_key":"c","priority":"high","restricted_package_name":"com.example","data":{"b":"2"},
           "direct_boot_ok":true,"fcm_options":{"analytics_label":"l"},
           "notification":{"title":"t","color":"#ff8000","body_loc_key":"k","body_loc_args":["1"],"sticky":true,
             "event_time":"2026-11-22T06:00:00Z","vibrate_timings":["0.1s"],"notification_count":3,
             "notification_priority":"PRIORITY_HIGH","visibility":"PUBLIC","proxy":"DENY",
             "light_settings":{"color":{"red":0.5,"alpha":1},"light_on_duration":"1s","light_off_duration":"0s"}}},
         "apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"alert":{"title":"t"},"badge":1},"order":17},
           "fcm_options":{"analytics_label":"l","image":"https://example.com/i.png"}},
         "webpush":{"headers":{"TTL":"60"},"data":{"c":"3"},"notification":{"title":"t","d":4},
           "fcm_options":{"link":"https://example.com/"}},
         "fcm_options":{"analytics_label":"l"}}
        """##
    private static var values: [Any] {
        [
            "text", "", "1s", "12", "high", "#123456", "https://x", 7, -1, 0.25, 1e12, true, NSNull(), ["1"],
            ["a": "1"],
            ["a": 1], [String](), [String: String](),
        ]
    }
    private static let names = [
        "title", "data", "color", "ttl", "priority", "from", "message_type", "google.a", "toen", "notification",
        "fcmOptions",
        "android_v2", "analyticsLabel", "background_sync", "light_settings", "directBootOk",
    ]

    /// Changes a value at random: replaces it, or a member or an element somewhere in it.
    private func changed(_ value: Any, using random: inout SeededGenerator) -> Any {
        if var object = value as? [String: Any], Int.random(in: 0..<8, using: &random) > 0 {
            let name = object.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: object[Self.names.randomElement(using: &random) ?? ""] = Self.values.randomElement(using: &random)
            case 1: if let name { object[name] = nil }
            default: if let name { object[name] = object[name].map { changed($0, using: &random) } }
            }
            return object
        }
        return Self.values.randomElement(using: &random) ?? value
    }

    private func json(_ value: Any) throws -> String {
        try String(
            decoding: JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes]),
            as: UTF8.self)
    }

    /// The members of the message that a job with this payload compiles to; `nil` if the job is refused.
    private func compiled(_ payload: String) -> String? {
        let noon = WallTime(epochSeconds: 1_795_262_400)
        let context = JobContext(job: JobID(bits: 7), droppedAt: noon, carrier: .fcm) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        var parser = JSON.Parser()
        let job = Array(#"{"token":"\#(Self.token)","payload":\#(payload)}"#.utf8)
        var reader = DocumentJobReader(parsing: job, with: &parser, context: context)
        guard reader.validate().failure == nil, let batch = reader.next()?.batches.first else { return nil }
        return String(decoding: batch.payload(at: 0), as: UTF8.self).replacing("\u{1}", with: "60")
    }

    /// Why FCM refuses a message with these members.
    private func fault(_ members: String) -> GoogleError? {
        var (reading, parser) = (MessageReading(), JSON.Parser())
        let more = members.isEmpty ? "" : "," + members
        reading.read(Array(#"{"message":{"token":"\#(Self.token)"\#(more)}}"#.utf8), parser: &parser)
        return reading.fault
    }

    @Test func `a job is refused exactly for what FCM refuses`() throws {
        let message = try JSONSerialization.jsonObject(with: Data(Self.message.utf8))
        #expect(compiled(try json(message)).map(fault) == .some(nil))
        var counts = (taken: 0, refused: 0)
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            var value = changed(message, using: &random)
            for _ in 0..<seed % 8 { value = changed(value, using: &random) }
            guard let object = value as? [String: Any] else { continue }
            let payload = try json(object)
            if let members = compiled(payload) {
                #expect(fault(members) == nil, "seed \(seed): \(members)")
                counts.taken += 1
            } else {
                #expect(fault(String(payload.dropFirst().dropLast())) != nil, "seed \(seed): \(payload)")
                counts.refused += 1
            }
        }
        #expect(counts.taken > 40 && counts.refused > 100, "\(counts)")
    }
}
