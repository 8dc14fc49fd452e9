import ArgumentParser
import SpoolModel

/// The command `pushspool expire`.
struct Expire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End jobs that are out of date: the rest expires.",
        discussion: """
            Like cancel, but with the outcome and the code expired, so that retry does not resend the rest. If no daemon is \
            running, the command takes the daemon's lock and does this itself.

            Example: pushspool expire weather/storm.json
            """)

    @OptionGroup var jobs: JobArguments

    func run() async throws {
        try await jobs.run(.expire) { [jobs.request(.expire, $0)] }
    }
}
