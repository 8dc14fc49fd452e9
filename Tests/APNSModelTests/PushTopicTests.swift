import APNSModel
import Testing

struct PushTopicTests {
    @Test(arguments: [
        (PushType.alert, "com.example.app"), (.background, "com.example.app"), (.mdm, "com.example.app"),
        (.location, "com.example.app.location-query"), (.voip, "com.example.app.voip"),
        (.complication, "com.example.app.complication"), (.fileprovider, "com.example.app.pushkit.fileprovider"),
        (.liveactivity, "com.example.app.push-type.liveactivity"), (.pushtotalk, "com.example.app.voip-ptt"),
        (.widgets, "com.example.app.push-type.widgets"), (.controls, "com.example.app.push-type.controls"),
    ])
    func `each type of push has its suffix, once`(type: PushType, topic: String) {
        #expect(PushTopic.topic(for: type, app: "com.example.app") == topic)
        #expect(PushTopic.topic(for: type, app: topic) == topic)
        #expect(PushTopic.fault(of: topic, for: type, with: .providerToken) == nil)
    }

    @Test func `some types are for keys only`() {
        let refused = PushType.allCases.filter {
            let topic = PushTopic.topic(for: $0, app: "a.b")
            return PushTopic.fault(of: topic, for: $0, with: .certificate(topics: [topic])) != nil
        }
        #expect(refused == [.location, .liveactivity, .widgets, .controls])
    }

    @Test func `the rules agree with those that the binary protocol knows`() {
        for type in PushType.allCases {
            for priority in Priority.allCases where !type.allows(priority) {
                #expect(!type.rules.priorities.contains(priority), "\(type) \(priority)")
            }
            #expect(type.rules.priorities.contains(type.defaultPriority), "\(type)")
        }
    }

    @Test func `a topic without the suffix of its type is told the right one`() throws {
        let fault = try #require(PushTopic.fault(of: "a.b", for: .voip, with: .providerToken))
        #expect(fault.message == "the topic of a push of type voip must end in .voip" && !fault.isWarning)
        #expect(fault.hint == "use a.b.voip, or omit the topic")
    }

    @Test func `a topic with the suffix of another type may be meant`() {
        #expect(PushTopic.fault(of: "a.b.voip", for: .alert, with: .providerToken)?.isWarning == true)
        #expect(PushTopic.fault(of: "a.b.voip", for: .mdm, with: .providerToken) == nil)
    }

    @Test(arguments: ["", "a b", "a\r\nb", "a\0", "ü", String(repeating: "a", count: 256)])
    func `what no header can carry is refused`(topic: String) {
        #expect(
            PushTopic.fault(of: topic, for: .alert, with: .providerToken)?.hint.contains("bundle identifier") == true)
    }

    @Test func `a certificate is for its topics only`() {
        let identity = PushTopic.Identity.certificate(topics: ["a.b", "a.b.voip"])
        #expect(PushTopic.fault(of: "a.b", for: .alert, with: identity) == nil)
        #expect(PushTopic.fault(of: "a.c", for: .alert, with: identity)?.hint == "use one of its topics: a.b, a.b.voip")
        #expect(PushTopic.fault(of: "a.c", for: .alert, with: .certificate(topics: [])) == nil)
    }

    @Test func `a topic may be missing only where the certificate has one`() {
        #expect(PushTopic.fault(of: nil, for: .alert, with: .certificate(topics: ["a.b"])) == nil)
        #expect(PushTopic.fault(of: nil, for: .alert, with: .certificate(topics: ["a", "b"])) != nil)
        #expect(PushTopic.fault(of: nil, for: .alert, with: .providerToken) != nil)
    }

    @Test(arguments: [
        ("", "is empty"), (" com.example.app", "contains a space, which no bundle identifier has"),
        ("com.example.app ", "contains a space, which no bundle identifier has"),
        ("<com.example.app>", "contains `<`, which no bundle identifier has"),
        ("https://example.com/app", "contains `:`, which no bundle identifier has"),
        ("com.example.müller", "contains `ü`, which no bundle identifier has"),
        ("com.example.*", "contains `*`, which no bundle identifier has"),
        ("com.example.app\u{200B}", "contains U+200B, which no bundle identifier has"),
        ("com.example.", "has an empty part before, between or after its periods"),
        (".com.example", "has an empty part before, between or after its periods"),
        (String(repeating: "a", count: 256), "is longer than 255 bytes"),
    ])
    func `what no bundle identifier can be is an error`(topic: String, message: String) {
        let fault = PushTopic.fault(ofAppsOwn: topic)
        #expect(fault?.message == message && fault?.isWarning == false)
        #expect(fault?.hint == "set it to the app's bundle identifier, such as com.example.app")
        #expect(PushTopic.fault(ofForm: topic) == fault)
    }

    @Test(arguments: [
        (
            "ABCDE12345.com.example", "begins with what looks like a team id, ABCDE12345",
            "set it to the bundle identifier alone, com.example"
        ),
        (
            "com.example.my_app", "contains `_`, which Apple allows in no bundle identifier",
            "set it to the app's bundle identifier, such as com.example.app"
        ),
        (
            "com.example.app.voip", "ends in .voip, the suffix of pushes of type voip; other pushes would get it too",
            "set it to the bundle identifier alone, com.example.app: pushspool appends the suffix where it belongs"
        ),
    ])
    func `what hardly any app's topic is gets a warning`(topic: String, message: String, hint: String) {
        let fault = PushTopic.fault(ofAppsOwn: topic)
        #expect(fault?.message == message && fault?.hint == hint && fault?.isWarning == true)
    }

    @Test(arguments: [
        "com.example.app", "pass.com.example.card", "com.apple.mgmt.External.3f5a0b1c-8f7e-4c6d-9a2b-1e0d9c8b7a65",
        "a.b",
        "web.com.example", "weather",
    ])
    func `other topics are taken as they are`(topic: String) {
        #expect(PushTopic.fault(ofAppsOwn: topic) == nil)
    }
}
