import ArgumentParser
import SpoolModel

/// The command `pushspool cancel`.
struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End jobs: what is left of them is not sent.",
        discussion: """
            A job that waits in new/ or is parked in hold/ goes to failed/. Of one under way nothing more is handed out; what \
            is on a connection gets its outcome, the rest is unsent, and the job goes to failed/ with code cancelled. Works \
            through the daemon, or without one under its lock.

            Example: pushspool cancel --app weather campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    func run() throws {
        try jobs.carryOut(.cancel) { [jobs.request(.cancel, $0)] }
    }
}
