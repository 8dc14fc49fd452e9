import ArgumentParser
import SpoolModel

/// The command `pushspool retry`.
struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send what is left of jobs that are over.",
        discussion: """
            Looks for a job in failed/ and done/, says how much of it is unsent, and moves it back to new/, from where only \
            that is sent, under the same id. What was rejected or expired is over. Works through the daemon, or without one \
            under its lock.

            Example: pushspool retry weather/campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    @Flag(help: "Also send what may have been sent already, and was not to be sent twice.")
    var unknown = false

    @Flag(help: "Send all of it again, as a new job with an id of its own.")
    var whole = false

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Only say what would be sent.")
    var dryRun = false

    func validate() throws {
        guard !(whole && unknown) else { throw ValidationError("--whole sends --unknown, too.") }
    }

    func run() throws {
        try jobs.carryOut(.retry) { name in
            var plan = jobs.request(.retry, name)
            (plan.isWhole, plan.includesUnknown, plan.isDryRun) = (whole, unknown, true)
            guard !dryRun else { return [plan] }
            var request = plan
            request.isDryRun = false
            return [plan, request]
        }
    }
}
