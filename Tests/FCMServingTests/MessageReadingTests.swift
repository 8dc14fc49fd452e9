import FCMModel
import JSON
import PushModel
import Testing

@testable import FCMServing

/// Which messages FCM takes.
struct MessageReadingTests {
    private static let token = "cXz1AbCdEfGhIjKlMnOpQr:APA91bH"

    private func reading(_ body: String) -> MessageReading {
        var (reading, parser) = (MessageReading(), JSON.Parser())
        reading.read(Array(body.replacing("TOKEN", with: Self.token).utf8), parser: &parser)
        return reading
    }

    @Test(arguments: [
        #"{"message":{"token":"TOKEN","data":{"a":"1"}}}"#, #"{"message":{"token":"TOKEN"}}"#,
        #"{"validateOnly":true,"message":{"token":"TOKEN","notification":null,"topic":null}}"#,
        #"{"message":{"name":"x","topic":"news.~%","fcmOptions":{"analyticsLabel":"a"}}}"#,
        #"{"message":{"condition":"'a' in topics && !('b' in topics)","android":{"ttl":"3.5s","priority":"high"}}}"#,
        #"{"message":{"fid":"cXz1AbCdEfGhIjKlMnOpQr","android_v2":{"backgroundSync":{}}}}"#,
        #"{"message":{"token":"TOKEN","android_v2":{"remote_notification":{"notification":{"id":"7","title":"t"}}}}}"#,
        #"{"message":{"token":"TOKEN","apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":1}}}}}"#,
        ##"{"message":{"token":"TOKEN","android":{"notification":{"color":"#aAbB09","body_loc_args":["1"],"vibrate_timings":["1s"],"light_settings":{"color":{"red":0.5},"light_on_duration":"1s","lightOffDuration":"0s"}}}}}"##,
    ])
    func `a good message has no fault`(body: String) {
        #expect(reading(body).fault == nil)
    }

    @Test(arguments: [
        (#"{"message":{"token":"TOKEN"}}"#, Address.Kind.registrationToken, Self.token),
        (#"{"message":{"topic":"news"}}"#, .topic, "news"),
        (#"{"message":{"fid":"cXz1AbCdEfGhIjKlMnOpQr","toen":1}}"#, .installation, "cXz1AbCdEfGhIjKlMnOpQr"),
    ])
    func `the target is known, whatever else is wrong`(body: String, kind: Address.Kind, text: String) {
        #expect(reading(body).target == Address(kind, Array(text.utf8)[...]))
    }

    @Test(arguments: [
        (
            #"{"message":{"toen":"x"}}"#,
            #"Invalid JSON payload received. Unknown name "toen" at 'message': Cannot find field."#
        ),
        (
            #"{"message":{"token":"TOKEN","toen":null}}"#,
            #"Invalid JSON payload received. Unknown name "toen" at 'message': Cannot find field."#
        ),
        (
            #"{"message":{"token":"TOKEN","fcm_options":{},"fcmOptions":{}}}"#,
            "Invalid value at 'message' (oneof), 'fcm_options' is already set"
        ),
        (#"{"mesage":{}}"#, #"Invalid JSON payload received. Unknown name "mesage": Cannot find field."#),
        (
            #"{"message":{"token":"TOKEN","data":{"a":12}}}"#,
            "Invalid value at 'message.data[0].value' (TYPE_STRING), 12"
        ),
        (
            #"{"message":{"token":"TOKEN","android":{"priority":"LOW"}}}"#,
            #"Invalid value at 'message.android.priority' (type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority), "LOW""#
        ),
        (
            #"{"message":{"token":"TOKEN","android":{"ttl":"86400"}}}"#,
            #"Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "86400""#
        ),
        (
            #"{"message":{"token":["TOKEN"]}}"#,
            #"Invalid JSON payload received. Unknown name "token" at 'message': Proto field is not repeating, cannot start list."#
        ),
        (
            #"{"message":{"token":"TOKEN","notification":{"title":{}}}}"#,
            "Invalid value at 'message.notification.title' (TYPE_STRING), Starting an object on a scalar field"
        ),
        (
            #"{"message":{"token":"TOKEN","topic":"news"}}"#,
            "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'topic'"
        ),
        (
            #"{"message":{"token":"TOKEN","android":{"direct_boot_ok":"yes","notification":{"title_loc_args":["a",1]}}}}"#,
            """
            Invalid value at 'message.android.direct_boot_ok' (TYPE_BOOL), "yes"
            Invalid value at 'message.android.notification.title_loc_args[1]' (TYPE_STRING), 1
            """
        ),
    ])
    func `a violation of the types is told, without FCM's code`(body: String, message: String) {
        let fault = reading(body).fault
        #expect(fault?.code == 400 && fault?.message == message && fault?.reason == "INVALID_ARGUMENT")
        #expect(fault?.details.count == 1)
    }

    @Test(arguments: [
        (#"{"message":{}}"#, "Recipient of the message is not set."), ("{}", "Recipient of the message is not set."),
        (#"{"message":{"token":"short"}}"#, "The registration token is not a valid FCM registration token"),
        (#"{"message":{"topic":"/topics/news"}}"#, "Topic name contains invalid characters."),
        (#"{"message":{"token":"TOKEN","data":{"from":"x"}}}"#, "Invalid data payload key: from"),
        (#"{"message":{"token":"TOKEN","webpush":{"data":{"google.x":"x"}}}}"#, "Invalid data payload key: google.x"),
        (
            #"{"message":{"token":"TOKEN","android":{"ttl":"2419201s"}}}"#,
            #"Invalid value for message.android.ttl: it must be a duration from "0s" to "2419200s", which is 28 days"#
        ),
        (
            #"{"message":{"token":"TOKEN","fcm_options":{"analytics_label":"a b"}}}"#,
            "Invalid value for message.fcm_options.analytics_label: it must be 1 to 50 letters, digits and -_.~%"
        ),
        (
            #"{"message":{"token":"TOKEN","android_v2":{}}}"#,
            "Exactly one of remote_notification and background_sync must be set"
        ),
        (
            #"{"message":{"token":"TOKEN","androidV2":{"remoteNotification":{"mutableContent":true}}}}"#,
            "notification must be set"
        ),
    ])
    func `what FCM does not take is told with its code`(body: String, message: String) {
        let fault = reading(body).fault
        #expect(fault?.message == message && fault?.details.contains(.fcm(.invalidArgument)) == true)
    }

    @Test(arguments: [
        (#"{"message":{"fid":"short"}}"#, GoogleError.unregistered),
        (#"{"message":{"condition":"'a' in"}}"#, .invalidArgument),
    ])
    func `a malformed installation is unregistered, and a bad condition is not explained`(
        body: String, fault: GoogleError
    ) {
        #expect(reading(body).fault == fault)
    }

    @Test(arguments: [
        (#"{"message":{"token":"TOKEN","data":{"a":"X"}}}"#, 4_095),
        (#"{"message":{"token":"TOKEN","notification":{"title":"t","body":"X"},"data":{"ab":"c"}}}"#, 4_092),
        (#"{"message":{"token":"TOKEN","android":{"data":{"b":"X"}},"data":{"a":"aaaaaaaa"}}}"#, 4_095),
    ])
    func `what an app receives may have 4096 bytes`(body: String, room: Int) {
        func fault(_ count: Int) -> GoogleError? {
            reading(body.replacing("X", with: String(repeating: "x", count: count))).fault
        }
        #expect(fault(room) == nil)
        #expect(fault(room + 1)?.message == "Message is too large. The maximum is 4K (4096 bytes).")
    }
}
