import Document
import DoorModel
import JSON
import JobFormat
import PushModel
import Testing

/// The notifications of gorush's clients for Android, and the jobs that become of them. The messages are those that gorush 1.22
/// sends for the same request (`GetAndroidNotification` in notify/notification_fcm.go).
struct GorushMessageTests {
    private static let now = WallTime(epochSeconds: 1_795_262_400)
    private static let tokens = ["cGxhbnQtMTIzNDU2Nzg5MA:APA91bOne", "cGxhbnQtMTIzNDU2Nzg5MA:APA91bTwo"]

    private static func notification(_ members: String) throws -> GorushRequest.Notification {
        var parser = JSON.Parser()
        let body = #"{"notifications":[{"platform":2,\#(members)}]}"#
        return try #require(try GorushRequest(parser.parse(Array(body.utf8)).root, at: now).notifications.first)
    }

    private static func jobs(_ members: String) throws -> [String] {
        let notification = try notification(members)
        try #require(notification.fault == nil)
        return notification.jobs.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Members of a notification, and those of the job about its message.
    private static let messages: [(members: String, message: String)] = [
        (#""message":"m","title":"t""#, #""notification":{"title":"t","body":"m"}"#),
        (#""image":"https://a/b.png""#, #""notification":{"image":"https://a/b.png"}"#),
        (
            #""notification":{"title":"a","image":"https://a/b.png"},"title":"t""#,
            #""notification":{"image":"https://a/b.png","title":"t"}"#
        ),
        (#""notification":{"title":"a"}, "message":"""#, #""notification":{"title":"a"}"#),
        (
            #""data":{"a":"x\n","b":17,"c":1.0,"d":9007199254740993,"e":true,"f":null,"g":{ "h" : [1, "2"] },"i":[]}"#,
            #""data":{"a":"x\n","b":"17","c":"1.0","d":"9007199254740993","e":"true","g":"{\"h\":[1,\"2\"]}","i":"[]"}"#
        ),
        (#""title":"t","data":{}"#, #""notification":{"title":"t"}"#),
        (#""title":"t","priority":"high""#, #""priority":10,"notification":{"title":"t"}"#),
        (#""title":"t","priority":"normal""#, #""priority":5,"notification":{"title":"t"}"#),
        (#""title":"t","priority":"urgent""#, #""notification":{"title":"t"}"#),
        (
            #""title":"t","priority":"high","android":{"priority":"NORMAL"}"#,
            #""notification":{"title":"t"},"android":{"priority":"NORMAL"}"#
        ),
        (
            #""title":"t","priority":"high","android":{"ttl":"60s"}"#,
            #""priority":10,"notification":{"title":"t"},"android":{"ttl":"60s"}"#
        ),
        (
            #""title":"t","priority":"high","android":{"priority":"","ttl":""}"#,
            #""priority":10,"notification":{"title":"t"},"android":{}"#
        ),
        (
            #""android":{"data":{"a":""},"notification":{"color":"","tag":"x","icon":null},"collapse_key":"c"}"#,
            #""android":{"data":{"a":""},"notification":{"tag":"x","icon":null},"collapse_key":"c"}"#
        ),
        (
            #""title":"t","sound":"chime""#,
            #""notification":{"title":"t"},"android":{"notification":{"sound":"chime"}},"apns":{"payload":{"aps":{"sound":"chime"}}}"#
        ),
        (
            #""sound":"chime","android":{"collapse_key":"c"}"#,
            #""android":{"collapse_key":"c"},"apns":{"payload":{"aps":{"sound":"chime"}}}"#
        ),
        (
            #""sound":"chime","android":{},"apns":{"headers":{"apns-priority":"5"},"payload":{"a":1,"aps":{"badge":2,"sound":"x"}}}"#,
            #""android":{},"apns":{"headers":{"apns-priority":"5"},"payload":{"a":1,"aps":{"badge":2,"sound":"chime"}}}"#
        ),
        (#""title":"t","sound":{"name":"chime"}"#, #""notification":{"title":"t"}"#),
        (
            #""title":"t","mutable_content":true,"apns":{"headers":{"apns-priority":"5"}}"#,
            #""notification":{"title":"t"},"apns":{"payload":{"aps":{"mutable-content":1}}}"#
        ),
        (#""mutable_content":true,"data":{"a":"b"}"#, #""data":{"a":"b"}"#),
        (
            #""content_available":true,"data":{"a":1},"apns":{"payload":{"aps":{"badge":1}}}"#,
            #""data":{"a":"1"},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1,"a":1}}}"#
        ),
        (
            #""title":"t","content_available":true,"mutable_content":true,"sound":"chime","android":{}"#,
            #""notification":{"title":"t"},"android":{},"#
                + #""apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1,"sound":"chime"}}}"#
        ),
        (
            #""apns":{"payload":{"aps":{"badge":1}}},"webpush":{"headers":{"Urgency":"high"}},"fcm_options":{"analytics_label":"l"}"#,
            #""apns":{"payload":{"aps":{"badge":1}}},"webpush":{"headers":{"Urgency":"high"}},"fcm_options":{"analytics_label":"l"}"#
        ),
        (
            #""title":"t","badge":3,"alert":{"title":"x"},"collapse_id":"c","apns_id":"i","notif_id":"n","retry":3,"production":true"#,
            #""notification":{"title":"t"}"#
        ),
    ]

    @Test(arguments: messages)
    func `a message has the members that it has in gorush`(_ members: String, _ message: String) throws {
        let jobs = try Self.jobs("\"to\":\"\(Self.tokens[0])\",\(members)")
        #expect(jobs == ["{\"token\":\"\(Self.tokens[0])\",\(message)}"])
    }

    @Test(arguments: messages)
    func `the daemon has no fault to find in it`(_ members: String, _: String) throws {
        let job = try #require(try Self.notification("\"to\":\"\(Self.tokens[0])\",\(members)").jobs.first)
        var parser = JSON.Parser()
        let context = JobContext(job: JobID(bits: 7), droppedAt: Self.now, carrier: .fcm) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        var reader = DocumentJobReader(parsing: job.bytes, with: &parser, context: context)
        let summary = reader.validate()
        #expect(summary.failure == nil && summary.rejectedCount == 0 && summary.recipientCount == 1, "\(summary)")
    }

    @Test(arguments: [
        (#""tokens":["a","b"]"#, [#""tokens":["a","b"]"#], ["a", "b"]),
        (#""tokens":["a"],"to":"b""#, [#""tokens":["a","b"]"#], ["a", "b"]), (#""to":"a""#, [#""token":"a""#], ["a"]),
        (#""topic":"news""#, [#""topic":"news""#], ["news"]),
        (#""topic":"/topics/news","tokens":[]"#, [#""topic":"news""#], ["/topics/news"]),
        (#""condition":"'a' in topics""#, [#""condition":"'a' in topics""#], ["'a' in topics"]),
        (#""topic":"news","tokens":["a"]"#, [#""topic":"news""#, #""token":"a""#], ["news", "a"]),
    ])
    func `a topic and the tokens beside it are two jobs`(
        _ members: String, _ starts: [String], _ recipients: [String]
    ) throws {
        let message = #""notification":{"title":"t"}"#
        #expect(try Self.jobs(members + #","title":"t""#) == starts.map { "{\($0),\(message)}" })
        let notification = try Self.notification(members + #","title":"t""#)
        #expect(notification.recipients == recipients && notification.jobs.flatMap(\.recipients) == recipients)
    }

    @Test(arguments: [
        (#""title":"t""#, "tokens must not be empty unless there is a topic or a condition"),
        (#""topic":"a","condition":"'b' in topics""#, "topic and condition cannot be combined"),
        (#""to":"a","notification":"x""#, "notification: expected an object, found "),
        (#""to":"a","android":[]"#, "android: expected an object, found "),
        (#""to":"a","apns":{"payload":1}"#, "apns.payload: expected an object, found "),
        (#""to":"a","apns":{"payload":{"aps":"x"}}"#, "apns.payload.aps: expected an object, found "),
        (#""to":"a","image":1"#, "image: expected a string, found "),
        (#""to":"a","badge":"1""#, "badge: expected an integer of 64 bits, found "),
        (
            #""to":"a","content_available":true,"data":{"content-available":"0"}"#,
            "data must not have the key content-available beside content_available"
        ),
        (
            #""to":"a","content_available":true,"sound":"chime","data":{"sound":"x"}"#,
            "data must not have the key sound beside content_available"
        ),
    ])
    func `a notification without a message of its own is refused`(_ members: String, _ fault: String) throws {
        let notification = try Self.notification(members)
        #expect(notification.jobs.isEmpty && notification.fault?.hasPrefix(fault) == true, "\(notification)")
    }

    @Test(arguments: [(500, true), (501, false)])
    func `a notification has at most 500 tokens`(count: Int, isTaken: Bool) throws {
        let tokens = [String](repeating: "\"a\"", count: count).joined(separator: ",")
        let notification = try Self.notification(#""tokens":[\#(tokens)],"title":"t""#)
        #expect((notification.fault == nil) == isTaken && notification.recipients.count == count)
    }
}
