import APNSModel
import Document
import JobFormat
import PushModel
import Testing

struct MessageDeliveryTests {
    /// An hour after the drop.
    private let later = noon.epochSeconds + 3600

    @Test(arguments: [
        (#""data":{}"#, #"{"data":{},"android":{"ttl":"Ns"}}"#),
        (#""data":{},"priority":10"#, #"{"data":{},"android":{"priority":"HIGH","ttl":"Ns"}}"#),
        (#""data":{},"priority":"normal""#, #"{"data":{},"android":{"priority":"NORMAL","ttl":"Ns"}}"#),
        (#""data":{},"collapse_id":"a\"b""#, #"{"data":{},"android":{"ttl":"Ns","collapse_key":"a\"b"}}"#),
        (
            #""android":{"data":{"a":"1"}},"collapse_id":"c""#,
            #"{"android":{"data":{"a":"1"},"ttl":"Ns","collapse_key":"c"}}"#
        ),
        (#""payload":{"android":null,"data":null}"#, #"{"android":{"ttl":"Ns"}}"#),
        (#""android":{"ttl":null,"priority":null},"priority":5"#, #"{"android":{"priority":"NORMAL","ttl":"Ns"}}"#),
        (
            #""android_v2":{"background_sync":{}},"collapse_id":"c""#,
            #"{"android_v2":{"background_sync":{},"ttl":"Ns","collapse_key":"c"}}"#
        ),
        (
            #""android":{},"androidV2":{"background_sync":{}}"#,
            #"{"android":{"ttl":"Ns"},"androidV2":{"background_sync":{}}}"#
        ),
        (
            #""payload":{"android_v2":null,"androidV2":{"background_sync":{}}}"#,
            #"{"androidV2":{"background_sync":{},"ttl":"Ns"}}"#
        ),
        (#""webpush":{}"#, #"{"webpush":{"headers":{"TTL":"N"}},"android":{"ttl":"Ns"}}"#),
        (
            #""webpush":{"headers":{"Urgency":"low"},"data":{}}"#,
            #"{"webpush":{"headers":{"Urgency":"low","TTL":"N"},"data":{}},"android":{"ttl":"Ns"}}"#
        ),
        (#""webpush":{"headers":{}}"#, #"{"webpush":{"headers":{"TTL":"N"}},"android":{"ttl":"Ns"}}"#),
        (#""webpush":{"headers":null}"#, #"{"webpush":{"headers":{"TTL":"N"}},"android":{"ttl":"Ns"}}"#),
        (#""webpush":{"headers":{"ttl":"60"}}"#, #"{"webpush":{"headers":{"ttl":"60"}},"android":{"ttl":"Ns"}}"#),
        (
            #""apns":{"payload":{"aps":{}}},"expiration":"+1h""#,
            #"{"apns":{"payload":{"aps":{}},"headers":{"apns-expiration":"1795266000"}},"android":{"ttl":"Ns"}}"#
        ),
        (
            #""apns":{"headers":{"apns-priority":"5"}},"expiration":"now""#,
            #"{"apns":{"headers":{"apns-priority":"5","apns-expiration":"0"}},"android":{"ttl":"Ns"}}"#
        ),
        (
            #""android":{"ttl":"3600s","priority":"HIGH"},"expiration":"+1h""#,
            #"{"android":{"ttl":"Ns","priority":"HIGH"}}"#
        ),
        (
            #""android":{"ttl":"3600s"},"collapse_id":"c","expiration":"+1h""#,
            #"{"android":{"ttl":"Ns","collapse_key":"c"}}"#
        ),
        (
            #""android_v2":{"ttl":"3600.5s","background_sync":{}},"expiration":"+1h""#,
            #"{"android_v2":{"ttl":"Ns","background_sync":{}}}"#
        ),
        (
            #""webpush":{"headers":{"Urgency":"low","ttl":"3600","Topic":"t"},"data":{}},"expiration":"+1h""#,
            #"{"webpush":{"headers":{"Urgency":"low","ttl":"N","Topic":"t"},"data":{}},"android":{"ttl":"Ns"}}"#
        ),
        (
            #""android":{"ttl":"60.5s"},"webpush":{"headers":{"TTL":"60"}}"#,
            #"{"android":{"ttl":"Ns"},"webpush":{"headers":{"TTL":"60"}}}"#
        ),
    ])
    func `the keys about delivery become members of the message`(members: String, payload: String) {
        let job = message(members)
        #expect(sent(job) == [payload.withoutBraces])
        #expect(job.summary.failure == nil)
    }

    @Test(arguments: [
        (#""data":{}"#, Int64(28 * 86_400)), (#""data":{},"expiration":"+1h""#, 3600),
        (#""data":{},"expiration":"+60d""#, 60 * 86_400), (#""data":{},"expiration":"now""#, nil),
        (#""android":{"ttl":"60s"}"#, 60), (#""android":{"ttl":"1.9s"}"#, 1), (#""android":{"ttl":"0s"}"#, nil),
        (#""android":{"ttl":"0.5s"}"#, nil), (#""android_v2":{"ttl":"60s","background_sync":{}}"#, 60),
        (#""android":{"ttl":"60s"},"expiration":"+1m""#, 60), (#""android":{"ttl":"60s"},"not_before":"+1h""#, 3660),
    ])
    func `a notification expires as its key says, else as its member says`(members: String, seconds: Int64?) {
        let job = message(members)
        let expiration = seconds.map { Expiration(epochSeconds: noon.epochSeconds + $0) } ?? .singleAttempt
        #expect(job.lines == [] && job.sent.map(\.attributes?.expiration) == [expiration])
    }

    @Test(arguments: [
        (#""android":{"ttl":"60s"},"expiration":"+1h""#, "expiration: differs from `android.ttl` of the message"),
        (#""android":{"ttl":"60s"},"expiration":0"#, "expiration: differs from `android.ttl` of the message"),
        (
            #""webpush":{"headers":{"TTL":"60"}},"expiration":"+1h""#,
            "expiration: differs from `webpush.headers.TTL` of the message"
        ),
        (
            #""apns":{"headers":{"apns-expiration":"0"}},"expiration":"+1h""#,
            "expiration: differs from `apns.headers.apns-expiration` of the message"
        ),
        (#""android":{"priority":"high"},"priority":5"#, "priority: differs from `android.priority` of the message"),
        (
            #""android":{"collapseKey":"a"},"collapse_id":"b""#,
            "collapse_id: differs from `android.collapse_key` of the message"
        ),
    ])
    func `a key that differs from the message is a fault`(members: String, complaint: String) {
        let job = message(members)
        #expect(complaints(job) == [complaint + "; remove one of them"] && job.summary.failure == .invalid)
    }

    @Test(arguments: [
        #""android":{"ttl":"3600s"},"expiration":"+1h""#, #""android":{"priority":"HIGH"},"priority":10"#,
        #""android":{"ttl":"2419200s"},"webpush":{"headers":{"TTL":"2419200"}},"expiration":"+40d""#,
        #""android":{"collapse_key":"a"},"collapse_id":"a""#,
        #""webpush":{"headers":{"TTL":"3600"}},"expiration":"+1h""#,
        #""apns":{"headers":{"apns-expiration":"1795266000"}},"expiration":"+1h""#,
    ])
    func `a key that says the same as the message is none`(members: String) {
        #expect(message(members).lines == [])
    }

    @Test func `the second version for Android has no priority`() {
        let job = message(#""android_v2":{"background_sync":{}},"priority":10"#)
        #expect(
            complaints(job) == [
                "priority: `android_v2` has no priority; remove it: `remote_notification` is urgent, `background_sync` is not"
            ])
    }

    @Test func `one template is a job for both platforms`() {
        let shared =
            #""alert":{"title":"T","body":"B"},"badge":1,"sound":"s","custom":{"k":17},"priority":10,"expiration":"+1h","collapse_id":"c"}"#
        let fcm = json("{\"token\":\"\(registrationToken)\",\(shared)", context(.fcm))
        let apns = json("{\"token\":\"\(String(repeating: "0a", count: 32))\",\(shared)")
        #expect(fcm.lines == [] && apns.lines == [])
        #expect(apns.payloads == [#"{"aps":{"alert":{"title":"T","body":"B"},"badge":1,"sound":"s"},"k":17}"#])
        #expect(
            sent(fcm) == [
                (#"{"notification":{"title":"T","body":"B"},"data":{"k":"17"},"android":{"notification":{"#
                    + #""notification_count":1,"sound":"s"},"priority":"HIGH","ttl":"Ns","collapse_key":"c"}}"#)
                    .withoutBraces
            ])
        for job in [fcm, apns] {
            #expect(job.sent.map(\.attributes?.expiration) == [Expiration(epochSeconds: later)])
        }
    }
}
