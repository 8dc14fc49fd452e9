import ArgumentParser

/// `pushspool demo`.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the main job at work, without Apple.")

    func run() async throws {
        throw ExitCode.tryAgain
    }
}
