/// The sample jobs: every format, and every kind of error.
package enum DemoJobs {
    /// A token of the other environment: status 400 over HTTP/2.
    static let foreign = DemoToken(25)
    /// A token whose app was removed: status 410 over HTTP/2.
    static let uninstalled = DemoToken(40)
    /// A token for which the gateway once answers that there are too many requests: status 429 over HTTP/2.
    static let hurried = DemoToken(6)

    /// The jobs of all apps.
    package static let all =
        [
            one, many, pairs, recipients, thousand, halfBad, call, match, allRefused, syntax, typo, unequal, oversize,
            link,
        ] + news + legacy

    private static let one = DemoJob(
        name: "one.json", about: "one token",
        content: .text(#"{"token": "\#(DemoToken(1).hex)", "alert": "Storm in an hour", "sound": "default"}"# + "\n"),
        end: .done, good: [DemoToken(1)], contents: [DemoToken(1): "Storm in an hour"])

    private static let many = DemoJob(
        name: "many.yaml", about: "various token spellings, shorthands, Unicode",
        content: .text(
            """
            tokens:
              - \(DemoToken(2).hex)
              - \(DemoToken(3).hex.uppercased())
              - \(DemoToken(4).inBrackets)
              - \(DemoToken(5).base64)
              - \(DemoToken(6).hex)
            alert: {title: "Gewitter ⛈", body: "雷雨が近づいています"}
            badge: 1
            thread_id: storms
            custom: {station: Zürich, severe: no}     # no is a string in YAML 1.2

            """),
        end: .done, good: (2...6).map(DemoToken.init), contents: [DemoToken(4): "雷雨が近づいています"])

    private static let pairs = DemoJob(
        name: "pairs.json", about: "one payload per token",
        content: .text(
            """
            {"tokens": ["\(DemoToken(7).hex)", "\(DemoToken(8).hex)"],
             "payloads": [{"aps": {"alert": "Sun"}, "id": 9007199254740993}, {"aps": {"alert": "Rain"}, "id": 1.0}]}

            """),
        end: .done, good: [DemoToken(7), DemoToken(8)],
        contents: [DemoToken(7): #""id":9007199254740993"#, DemoToken(8): #""id":1.0"#])

    private static let recipients = DemoJob(
        name: "recipients.yaml", about: "recipients with their own options",
        content: .text(
            """
            alert: Good morning
            priority: 5
            expiration: +6h
            recipients:
              - {token: \(DemoToken(9).hex), badge: 3}
              - {token: \(DemoToken(10).hex), alert: Guten Morgen}
              - {token: \(DemoToken(11).hex), sound: chime.caf, priority: 10}

            """),
        end: .done, good: (9...11).map(DemoToken.init), contents: [DemoToken(10): "Guten Morgen"])

    private static let thousand: DemoJob = {
        let tokens = (1000..<2000).map(DemoToken.init)
        let first = #"{"job": {"id": "campaign-7", "count": 1000}, "defaults": {"alert": "Weekend outlook"}}"#
        let lines = tokens.map { "\"\($0.hex)\"" }
        return DemoJob(
            name: "thousand.jsonl", about: "one token per line, streamed",
            content: .text(([first] + lines).joined(separator: "\n") + "\n"), end: .done, good: tokens)
    }()

    private static let halfBad: DemoJob = {
        let tokens = (20..<32).map(DemoToken.init)
        var lines = tokens.map { "  - \($0.hex)" }
        lines[9] = "  - \"not a token!\""
        return DemoJob(
            name: "half-bad.yaml", about: "one token refused, one malformed; the rest is sent",
            content: .text("alert: Frost tonight\ntokens:\n" + lines.joined(separator: "\n") + "\n"), end: .done,
            good: tokens.filter { $0 != foreign && $0 != DemoToken(29) }, rejectedCount: 2)
    }()

    private static let call = DemoJob(
        name: "call.json", about: "VoIP push: .voip is appended to the topic",
        content: .text(
            #"{"token": "\#(DemoToken(50).hex)", "push_type": "voip", "payload": {"caller": "Mira"}, "expiration": 0}"#
                + "\n"),
        end: .done, good: [DemoToken(50)], contents: [DemoToken(50): "Mira"])

    private static let match = DemoJob(
        name: "match.yaml", about: "a Live Activity",
        content: .text(
            """
            token: \(DemoToken(51).hex)
            push_type: liveactivity
            priority: 5
            payload: {aps: {event: update, timestamp: 1795262400, content-state: {home: 2, guests: 1}}}

            """),
        end: .done, good: [DemoToken(51)])

    private static let allRefused = DemoJob(
        name: "refused.json", about: "the gateway rejects its only token",
        content: .text(#"{"token": "\#(uninstalled.hex)", "alert": "Anybody there?"}"# + "\n"),
        end: .failed(code: "refused"), rejectedCount: 1)

    private static let syntax = DemoJob(
        name: "syntax.yaml", about: "not valid YAML",
        content: .text("token: \(DemoToken(41).hex)\nalert: {title: Hail, body: \"Cover your car}\n"),
        end: .failed(code: "invalid"))

    private static let typo = DemoJob(
        name: "typo.yaml", about: "a misspelled key",
        content: .text("token: \(DemoToken(42).hex)\nalert: Hail\npriorty: 5\n"), end: .failed(code: "invalid"))

    private static let unequal = DemoJob(
        name: "unequal.json", about: "two tokens, one payload",
        content: .text(
            """
            {"tokens": ["\(DemoToken(43).hex)", "\(DemoToken(44).hex)"],
             "payloads": [{"aps": {"alert": "Only one"}}]}

            """), end: .failed(code: "invalid"))

    private static let oversize = DemoJob(
        name: "oversize.yaml", about: "a payload over the size limit",
        content: .text("token: \(DemoToken(45).hex)\nalert: \(String(repeating: "ice ", count: 1100))\n"),
        end: .failed(code: "invalid"))

    private static let link = DemoJob(
        name: "link.json", about: "not a regular file", content: .link(to: "/etc/hostname"),
        end: .failed(code: "unreadable"))
}
