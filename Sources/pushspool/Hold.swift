import ArgumentParser
import SpoolModel

/// The command `pushspool hold`.
struct Hold: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Park jobs in hold/, those that are being sent too.",
        discussion: """
            A job that waits goes from new/ to hold/. Of one under way nothing more is handed out; when what is on a \
            connection has its outcome, the job goes from work/ to hold/, beside a file that says what is left of it. Works \
            through the daemon, or without one under its lock.

            Example: pushspool hold weather/campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    func run() throws {
        try jobs.carryOut(.hold) { [jobs.request(.hold, $0)] }
    }
}
