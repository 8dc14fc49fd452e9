import APNSBinary
import APNSGateway
import APNSModel
import LinuxIO
import SpoolModel

// What the feedback service's poller needs.
extension AppRunner {
    /// The feedback service of the app as it is configured now, `nil` if it is not asked, and the pause between two askings.
    var feedbackSource: (service: FeedbackService?, pause: Duration) { (identity.feedbackService, app.feedbackEvery) }

    /// How long to wait when lines cannot be published.
    private static let publicationPause = Duration.seconds(1)

    /// Publishes tokens that the feedback service has named, with the other lines that there are. Waits as long as that takes.
    ///
    /// - Parameter entries: At most what `GoneTokenGroup` holds: their lines are in memory.
    /// - Returns: Whether they are out; `false` when the task was cancelled before that was known.
    func publish(_ entries: [FeedbackTuple]) async -> Bool {
        for entry in entries {
            let time = WallTime(epochSeconds: Int64(entry.epochSeconds))
            writer.appendToken(entry.token, goneSince: time, to: &lines)
            suppression.remember(entry.token.bytes[...], since: time)
        }
        while !Task.isCancelled {
            // These lines are not in a publication that is under way.
            while isPublishing { await publishLines() }
            if await publishLines() { return true }
            try? await around.reactor.sleep(for: Self.publicationPause)
        }
        return false
    }
}
