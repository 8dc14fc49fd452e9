import Document
import JobFormat
import PushModel
import Testing

struct MessageFaultTests {
    @Test(arguments: [
        (#""data":{"order":17}"#, "data.order: must be text, found a number; write \"17\"; or use `custom`"),
        (
            #""data":{"order":[1]}"#, "data.order: must be text, found an array; write it as JSON text; or use `custom`"
        ),
        (#""data":{"order":null}"#, "data.order: must be text, found null; leave it out"),
        (
            #""data":{"from":"x"}"#,
            "data: the key `from` is reserved; choose another key; FCM also refuses from, message_type, google.* and gcm.notification.*"
        ),
        (
            #""custom":{"google.x":1}"#,
            "custom: the key `google.x` is reserved; choose another key; FCM also refuses from, message_type, google.* and gcm.notification.*"
        ),
        (#""notification":{"titel":"x"}"#, "notification: FCM has no member `titel` here; did you mean `title`?"),
        (
            #""payload":{"beam":1}"#,
            "payload: FCM has no member `beam` here; remove it; if FCM has it now, set unknown_fields: warn in the app"
        ),
        (#""alert":"x","aps":{}"#, "the key `aps` is unknown; use `alert`, or put it under `apns: {payload: …}`"),
        (
            #""android":{"notification":{"notification_count":"+5"}}"#,
            "android.notification.notification_count: expected a whole number of at most 32 bits, found `+5`"
        ),
        (#""payload":{"notification":1}"#, "payload.notification: expected an object, found `1`"),
        (#""payload":[]"#, "payload: expected an object, found an array"),
        (
            #""payload":{"token":"x"}"#,
            "payload: `token` does not belong into a payload; write it beside `payload`, where recipients are"
        ),
        (#""payload":{"name":"x"}"#, "payload: `name` is FCM's own; remove it: FCM sets it in its answer"),
        (
            #""payload":{"aps":{}}"#,
            "payload: FCM has no member `aps` here; put it under `apns.payload`, or use shorthands such as `alert`"
        ),
        (
            #""payload":{"message":{}}"#,
            "payload: `message` does not belong into a payload; write the members of the message directly"
        ),
        (
            #""message":{"data":{}},"data":{}"#,
            "the key `message` is unknown; write the members of the message here, or put them under `payload`"
        ),
        (
            #""android":{"ttl":"1h"}"#,
            #"android.ttl: expected a duration from "0s" to "2419200s", which is 28 days, found `1h`"#
        ),
        (
            #""android":{"ttl":"2419201s"}"#,
            #"android.ttl: expected a duration from "0s" to "2419200s", which is 28 days, found `2419201s`"#
        ),
        (#""android":{"priority":"urgent"}"#, "android.priority: expected `NORMAL` or `HIGH`, found `urgent`"),
        (
            #""android":{"notification":{"color":"red"}}"#,
            ##"android.notification.color: expected a color such as "#ff8000", found `red`"##
        ),
        (
            #""fcmOptions":{"analytics_label":"a b"}"#,
            "fcmOptions.analytics_label: expected 1 to 50 letters, digits and -_.~%, found `a b`"
        ),
        (
            #""android":{"notification":{"body_loc_key":"k","body_loc_args":["x",1]}}"#,
            "android.notification.body_loc_args[1]: expected text, found `1`"
        ),
        (
            #""android_v2":{}"#, "android_v2: must have either `remote_notification` or `background_sync`"
        ),
        (#""android_v2":{"remote_notification":{}}"#, "android_v2.remote_notification: needs `notification`; add it"),
        (
            #""android":{"collapse_key":"a","collapseKey":"a"}"#,
            "android: `collapseKey` and `collapse_key` are the same member; remove one"
        ),
        (
            #""fcm_options":{},"fcmOptions":{}"#, "fcmOptions: `fcmOptions` is there in both spellings; remove one"
        ),
        (#""webpush":{"headers":{"TTL":60}}"#, "webpush.headers.TTL: must be text, found a number"),
        (
            #""alert":{"subtitle":"x"}"#, "alert: FCM has nothing for the key `subtitle`; remove it"
        ),
        (#""alert":{"titel":"x"}"#, "alert: FCM has nothing for the key `titel`; did you mean `title`?"),
        (#""alert":1"#, "alert: expected text, found `1`"),
        (
            #""badge":0"#,
            "badge: must be a whole number, 1 or greater (got `0`); leave it out: FCM cannot remove a badge; launchers add one instead"
        ),
        (#""badge":"3""#, "badge: must be a whole number, 1 or greater (got `3`)"),
        (#""sound":{"critical":1}"#, "sound: must be text, found an object; critical sounds are Apple's; write a name"),
        (#""custom":[]"#, "custom: expected an object, found an array"),
        (
            #""payload":{},"alert":"x""#,
            "alert: `payload` and `alert` cannot be combined; write the message in one way: as `payload`, by its members, or by shorthands such as `alert`"
        ),
        (
            #""alert":"x","data":{}"#,
            "data: `alert` and `data` cannot be combined; write the message in one way: as `payload`, by its members, or by shorthands such as `alert`"
        ),
        (#""priority":1,"data":{}"#, "priority: must be 10 or high, or 5 or normal (got `1`)"),
    ])
    func `a message that FCM would refuse is a fault, with its remedy`(members: String, complaint: String) {
        let job = message(members)
        #expect(complaints(job) == [complaint])
        #expect(job.summary.failure == .invalid)
    }

    @Test func `a fault has its place in the file`() {
        let job = json(
            "{\"token\": \"\(registrationToken)\",\n \"data\": {\"a\": \"1\",\n  \"b\": true}}", context(.fcm))
        #expect(
            job.lines.first == "job:3:8: error: data.b: must be text, found true\nhint: write \"true\"; or use `custom`"
        )
    }

    @Test(arguments: [
        (
            #""data":{"gcm.x":"1"}"#,
            "data: the key `gcm.x` begins with google or gcm, which FCM once reserved; choose another key"
        ),
        (
            #""android":{"notification":{"title_loc_args":["x"]}}"#,
            "android.notification: `title_loc_args` has no effect without `title_loc_key`; add the key"
        ),
        (
            #""android":{},"android_v2":{"background_sync":{}}"#,
            "android_v2: Google does not say what `android` beside it means; remove one"
        ),
    ])
    func `what FCM takes and may not do is a warning`(members: String, complaint: String) {
        let job = message(members)
        #expect(complaints(job) == [complaint] && job.diagnostics.first?.severity == .warning)
        #expect(job.summary.failure == nil && job.sent.count == 1)
    }

    @Test(arguments: [
        (#""data":{"a":"\#(String(repeating: "x", count: 4095))"}"#, Int?.none),
        (#""data":{"a":"\#(String(repeating: "x", count: 4096))"}"#, 4097),
        (#""data":{"a":"\#(String(repeating: "x", count: 4096))"},"android":{"data":{}}"#, 4097),
        (#""data":{"a":"\#(String(repeating: "ä", count: 2048))"}"#, 4097),
        (#""alert":"\#(String(repeating: "x", count: 4096))","custom":{"k":1}"#, 4098),
        (
            #""data":{"a":"\#(String(repeating: "x", count: 4096))"},"android":{"data":{"a":"1"}}"#, nil
        ),
    ])
    func `keys and values of data and the text of the notification have a limit`(members: String, byteCount: Int?) {
        let job = message(members)
        let complaint = byteCount.map { "`data` and `notification` have \($0) bytes; the limit is 4096" }
        #expect(job.diagnostics.map(\.message) == [complaint].compactMap(\.self))
    }

    @Test func `a message of more than 16 KiB is refused even if data is short`() {
        let job = message(#""apns":{"payload":{"x":"\#(String(repeating: "x", count: 16 << 10))"}}"#)
        #expect(job.diagnostics.map(\.message) == ["the message has more than 16404 bytes; the limit is 16384"])
    }

    @Test(arguments: [
        ("push_type", "remove it: FCM has no push types"), ("category", "use `click_action`"),
        ("thread_id", "use `tag`"), ("interruption_level", "use `channel_id`, whose channel has an importance"),
        ("content_available", "remove it; a message without `alert` shows nothing"),
        ("mutable_content", "remove it, or use `android_v2`"),
        ("channel", "FCM has no broadcast channels; use `topic`"),
        (
            "apns_id", "remove it: FCM takes no id of ours; `collapse_id` lets a repetition replace the first"
        ),
    ])
    func `a key of Apple's is a fault in an FCM app`(key: String, hint: String) {
        let (document, recipient) = (
            message("\"alert\":\"x\",\"\(key)\":\"x\""),
            json(
                "{\"alert\":\"x\",\"recipients\":[{\"token\":\"\(registrationToken)\",\"\(key)\":\"x\"}]}",
                context(.fcm))
        )
        #expect(complaints(document) == ["the key `\(key)` belongs to an APNs app; \(hint)"])
        #expect(complaints(recipient) == ["recipients[0]: the key `\(key)` belongs to an APNs app; \(hint)"])
        #expect(recipient.sent.map(\.reason) == ["BadValue"])
    }

    @Test(arguments: [
        "fid", "fids", "condition", "notification", "data", "android", "android_v2", "apns", "webpush", "fcm_options",
        "image", "tag", "icon", "color", "channel_id", "click_action",
    ])
    func `a key of FCM's is a fault in an app of Apple's`(key: String) {
        let job = json("{\"token\":\"0A\",\"alert\":\"x\",\"\(key)\":\"x\"}")
        #expect(job.diagnostics.map(\.message) == ["the key `\(key)` belongs to an FCM app"])
        #expect(job.diagnostics.first?.hint != nil && job.summary.failure == .invalid)
    }
}
