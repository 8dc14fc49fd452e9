import ArgumentParser
import SpoolModel

/// The command `pushspool cancel`.
struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End jobs without sending the rest.",
        discussion: """
            Moves jobs from new/ and hold/ to failed/. For an active job, the daemon stops sending, waits for the outcomes of \
            notifications in flight, marks the rest unsent, and moves the job to failed/ with code cancelled. If no daemon is \
            running, the command takes the daemon's lock and does this itself.

            Example: pushspool cancel --app weather campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    func run() async throws {
        try await jobs.run(.cancel) { [jobs.request(.cancel, $0)] }
    }
}
