/// The jobs for the apps that show other ways to connect to a gateway.
extension DemoJobs {
    /// A token that the gateway refuses with status 8 over the binary protocol.
    static let refused = DemoToken(63)
    /// Tokens that the feedback service reports as gone after a notification was sent to them.
    static let gone = [DemoToken(3010), DemoToken(3020)]

    static let news = [headlines, widget]

    private static let headlines: DemoJob = {
        let tokens = (2000..<2300).map(DemoToken.init)
        return DemoJob(
            name: "headlines.yaml", app: .news, about: "takes the topic from the certificate",
            content: .text("alert: {title: Late edition}\ntokens:\n" + tokens.map { "  - \($0.hex)\n" }.joined()),
            end: .done, good: tokens)
    }()

    private static let widget = DemoJob(
        name: "widget.json", app: .news, about: "push type needs a provider token",
        content: .text(
            #"{"token": "\#(DemoToken(60).hex)", "push_type": "widgets", "payload": {"aps": {"content-changed": true}}}"#
                + "\n"),
        end: .failed(code: "invalid"))

    static let legacy = [flood, mixed]

    private static let flood: DemoJob = {
        let tokens = (3000..<4000).map(DemoToken.init)
        let first = #"{"defaults": {"alert": "Still there?", "badge": 0}}"#
        return DemoJob(
            name: "flood.jsonl", app: .legacy, about: "interrupted by a shutdown, then resumed",
            content: .text(([first] + tokens.map { "\"\($0.hex)\"" }).joined(separator: "\n") + "\n"), end: .done,
            good: tokens)
    }()

    private static let mixed: DemoJob = {
        let tokens = (61..<66).map(DemoToken.init)
        let list = tokens.map { "\"\($0.hex)\"" }.joined(separator: ", ")
        return DemoJob(
            name: "mixed.json", app: .legacy, about: "one token refused; later ones are resent",
            content: .text("{\"tokens\": [\(list)], \"alert\": \"Old roads\"}\n"), end: .done,
            good: tokens.filter { $0 != refused }, rejectedCount: 1)
    }()
}
