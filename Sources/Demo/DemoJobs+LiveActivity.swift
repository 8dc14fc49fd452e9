/// The jobs of a Live Activity: it is started on each device by that device's token for starts, and updated and ended for all
/// who follow it by broadcasts over one channel.
extension DemoJobs {
    /// The id of the channel that the activity follows.
    static let channel = "bWF0Y2gtNy1jaGFubmVs"

    static let liveActivity = [start, goal, secondGoal, end, unknownChannel]

    private static let start: DemoJob = {
        let tokens = (70..<75).map(DemoToken.init)
        return DemoJob(
            name: "1-start.yaml", about: "starts the activity, by each device's push-to-start token",
            content: .text(
                """
                tokens:
                \(tokens.map { "  - \($0.hex)" }.joined(separator: "\n"))
                push_type: liveactivity
                payload:
                  aps:
                    event: start
                    timestamp: 1795262400
                    attributes-type: MatchAttributes
                    attributes: {home: Wolves, guests: Bears}
                    content-state: {home: 0, guests: 0, minute: 0}
                    input-push-channel: \(channel)
                    alert: {title: Kick-off, body: Wolves against Bears}

                """),
            end: .done, good: tokens, contents: [tokens[0]: "input-push-channel"])
    }()

    private static let goal = broadcast(
        ("2-goal.yaml", "updates it for all followers, by the channel's name"), to: "match-7", at: 1_795_263_000,
        "event: update, content-state: {home: 1, guests: 0, minute: 10}")

    private static let secondGoal = broadcast(
        ("3-goal.yaml", "the same, by the channel's id, with an alert"), to: channel, at: 1_795_264_800,
        "event: update, content-state: {home: 2, guests: 0, minute: 40}, alert: Goal")

    private static let end = broadcast(
        ("4-end.yaml", "ends it, and removes it an hour later"), to: "match-7", at: 1_795_268_400,
        "event: end, content-state: {home: 2, guests: 1, minute: 90}, dismissal-date: 1795272000")

    private static let unknownChannel = DemoJob(
        name: "5-typo.yaml", about: "a misspelled channel",
        content: .text("channel: match7\npayload: {aps: {event: end, timestamp: 1795268400, content-state: {}}}\n"),
        end: .failed(code: "invalid"))

    private static func broadcast(
        _ job: (name: String, about: String), to channel: String, at timestamp: Int, _ members: String
    ) -> DemoJob {
        let text = "channel: \(channel)\nrecord: all\npayload: {aps: {timestamp: \(timestamp), \(members)}}\n"
        var broadcast = DemoJob(name: job.name, about: job.about, content: .text(text), end: .done)
        broadcast.broadcast = #""timestamp":\#(timestamp)"#
        return broadcast
    }
}
