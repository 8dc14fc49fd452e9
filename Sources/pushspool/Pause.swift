import ArgumentParser
import SpoolModel

/// The command `pushspool pause`.
struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop taking and sending jobs of apps until you resume them.",
        discussion: """
            Jobs stay in new/. The daemon sends no more of active jobs; notifications in flight get their outcomes. A pause \
            survives restarts: it is the file <spool>/<app>/paused. Expirations and give_up_after keep running. If no daemon \
            is running, the command takes the daemon's lock and does this itself.

            Example: pushspool pause weather
            """)

    @OptionGroup var apps: AppArguments

    func run() async throws {
        try await apps.run(.pause)
    }
}

/// The command `pushspool resume`.
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let paused apps continue, and stopped apps retry.",
        discussion: """
            Undoes `pause`. An app that was stopped because its gateway refused it tries again at once, with one \
            notification. If no daemon is running, the command takes the daemon's lock and does this itself.

            Example: pushspool resume weather
            """)

    @OptionGroup var apps: AppArguments

    func run() async throws {
        try await apps.run(.resume)
    }
}
