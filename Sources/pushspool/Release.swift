import ArgumentParser
import SpoolModel

/// The command `pushspool release`.
struct Release: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let parked jobs go on.",
        discussion: """
            Moves them from hold/ to new/. A job of which something was sent before keeps its id, and only the rest is sent; \
            times count from when it was dropped. Works through the daemon, or without one under its lock.

            Example: pushspool release weather/campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    func run() throws {
        try jobs.carryOut(.release) { [jobs.request(.release, $0)] }
    }
}
