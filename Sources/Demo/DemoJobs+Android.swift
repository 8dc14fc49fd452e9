/// The jobs for a service that has devices of both platforms.
extension DemoJobs {
    /// The registration token of an app that was removed: 404 `UNREGISTERED`.
    static let removed = DemoToken(95, isRegistration: true)
    /// How many messages FCM takes in a window of its quota: fewer than the largest job has.
    static let androidQuota = 60

    static let android = [stormOnIOS, stormOnAndroid, messages, crowd]

    private static let stormOnIOS = storm("storm-ios.yaml", .weather, (80..<85).map { DemoToken($0) })

    private static let stormOnAndroid = storm(
        "storm-fcm.yaml", .android, (85..<90).map { DemoToken($0, isRegistration: true) })

    /// A job that differs only in its tokens from that for the other platform.
    private static func storm(_ name: String, _ app: DemoApp, _ tokens: [DemoToken]) -> DemoJob {
        DemoJob(
            name: name, app: app, about: "the same template for both platforms",
            content: .text(
                """
                alert: {title: "Gewitter ⛈", body: In an hour}
                badge: 1
                sound: default
                priority: 10
                expiration: +6h
                custom: {station: Zürich, level: 3}
                tokens:
                \(tokens.map { "  - \($0.text)\n" }.joined())
                """),
            end: .done, good: tokens, contents: [tokens[0]: "In an hour"])
    }

    private static let messages: DemoJob = {
        let good = DemoToken(94, isRegistration: true)
        let first = #"{"token":"\#(good.text)","notification":{"title":"Sun"},"android":{"collapse_key":"sky"}}"#
        return DemoJob(
            name: "messages.jsonl", app: .android, about: "messages as FCM takes them; one app was removed",
            content: .text(first + "\n" + #"{"token":"\#(removed.text)","data":{"sky":"blue"}}"# + "\n"), end: .done,
            good: [good], rejectedCount: 1, contents: [good: #""collapse_key":"sky""#])
    }()

    private static let crowd: DemoJob = {
        let tokens = (5000..<5150).map { DemoToken($0, isRegistration: true) }
        let lines = [#"{"defaults": {"alert": "Weekend outlook"}}"#] + tokens.map { "\"\($0.text)\"" }
        return DemoJob(
            name: "crowd.jsonl", app: .android, about: "over the quota: waits, and goes on",
            content: .text(lines.joined(separator: "\n") + "\n"), end: .done, good: tokens)
    }()
}
