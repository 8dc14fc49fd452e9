import ArgumentParser
import SpoolModel

/// The command `pushspool retry`.
struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send the rest of archived jobs.",
        discussion: """
            Finds a job in failed/ or done/, prints how many notifications are unsent, and moves it back to new/. Only the \
            unsent notifications are sent, under the same id, not rejected or expired ones. If no daemon is running, the \
            command takes the daemon's lock and does this itself.

            Example: pushspool retry weather/campaign.jsonl
            """)

    @OptionGroup var jobs: JobArguments

    @Flag(help: "Also resend notifications that may have been sent before (`on_doubt: report`).")
    var unknown = false

    @Flag(help: "Send the whole job again, as a new job with its own id.")
    var whole = false

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Only print what would be sent.")
    var dryRun = false

    func validate() throws {
        guard !(whole && unknown) else { throw ValidationError("--whole includes --unknown: use only one of them.") }
    }

    func run() async throws {
        try await jobs.run(.retry) { name in
            var plan = jobs.request(.retry, name)
            (plan.isWhole, plan.includesUnknown, plan.isDryRun) = (whole, unknown, true)
            guard !dryRun else { return [plan] }
            var request = plan
            request.isDryRun = false
            return [plan, request]
        }
    }
}
