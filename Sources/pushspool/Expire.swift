import ArgumentParser
import SpoolModel

/// The command `pushspool expire`.
struct Expire: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End jobs that nobody wants any more: what is left of them expires.",
        discussion: """
            As cancel, but what was not sent has the outcome expired, and the job the code expired: retry does not send it. \
            Works through the daemon, or without one under its lock.

            Example: pushspool expire weather/storm.json
            """)

    @OptionGroup var jobs: JobArguments

    func run() throws {
        try jobs.carryOut(.expire) { [jobs.request(.expire, $0)] }
    }
}
