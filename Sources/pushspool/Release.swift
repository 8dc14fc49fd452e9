import ArgumentParser
import SpoolModel

/// The command `pushspool release`.
struct Release: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Resume held jobs.",
        discussion: """
            Moves held jobs back to new/. If part of a job was sent before, it keeps its id, and only the rest is sent; \
            times count from the original drop. If no daemon is running, the command takes the daemon's lock and does this \
            itself.

            Example: pushspool release weather/campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    func run() async throws {
        try await jobs.run(.release) { [jobs.request(.release, $0)] }
    }
}
