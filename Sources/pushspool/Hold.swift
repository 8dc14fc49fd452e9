import ArgumentParser
import SpoolModel

/// The command `pushspool hold`.
struct Hold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move jobs to hold/, even if they are being sent.",
        discussion: """
            Moves waiting jobs from new/ to hold/. For an active job, the daemon stops sending, waits for the outcomes of \
            notifications in flight, and moves the job from work/ to hold/, next to a file that lists the rest. If no daemon \
            is running, the command takes the daemon's lock and does this itself.

            Example: pushspool hold weather/campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    func run() async throws {
        try await jobs.run(.hold) { [jobs.request(.hold, $0)] }
    }
}
