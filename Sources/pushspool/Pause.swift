import ArgumentParser
import SpoolModel

/// The command `pushspool pause`.
struct Pause: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take and send nothing of apps until they are resumed.",
        discussion: """
            Jobs stay in new/; of those under way nothing more is sent, and what is on a connection gets its outcome. A pause \
            outlasts restarts: it is the file <spool>/<app>/paused. Expirations and give_up_after go on. Works through the \
            daemon, or without one under its lock.

            Example: pushspool pause weather
            """)

    @OptionGroup var apps: AppArguments

    func run() throws {
        try apps.carryOut(.pause)
    }
}

/// The command `pushspool resume`.
struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let paused apps go on, and stopped ones ask their gateways again.",
        discussion: """
            Ends what `pause` began. An app that its gateway has refused asks it again at once, with one notification. Works \
            through the daemon, or without one under its lock.

            Example: pushspool resume weather
            """)

    @OptionGroup var apps: AppArguments

    func run() throws {
        try apps.carryOut(.resume)
    }
}
