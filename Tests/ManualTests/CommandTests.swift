import ArgumentParser
import Foundation
import Testing

@testable import pushspool

struct CommandTests {
    private static let commands: [any ParsableCommand.Type] = [
        Run.self, Submit.self, List.self, Check.self, Doctor.self, ShowJournal.self, Status.self, Simulate.self,
        Demo.self, Feedback.self, Show.self, MakeReport.self, Hold.self, Release.self, Cancel.self, Expire.self,
        Retry.self, Pause.self, Resume.self, Stop.self, Channels.self, SendTest.self, Apps.self, PrintSchema.self,
    ]

    /// The commands, and those below them.
    private static var all: [any ParsableCommand.Type] { commands + commands.flatMap { $0.configuration.subcommands } }

    @Test func `pushspool(1) names every option of every command, and no other`() throws {
        let known = Set(Self.all.flatMap { Self.options(in: Self.help($0)) })
        let told = Self.options(in: try Manual.page("pushspool.1"))
        #expect(known.subtracting(told) == [])
        #expect(told.subtracting(known) == [])
    }

    @Test func `pushspool(1) and the README name every command`() throws {
        #expect(Pushspool.configuration.subcommands.count == Self.commands.count)
        let (page, readme) = (try Manual.page("pushspool.1"), try Manual.text("README.md"))
        let names = Self.commands.flatMap { command in
            let below = command.configuration.subcommands.map { "\(command._commandName) \($0._commandName)" }
            return below.isEmpty ? [command._commandName] : below
        }
        for name in names { #expect(page.contains("\n.B \(name)\n"), "\(name)") }
        for command in Self.commands {
            #expect(readme.contains("`pushspool \(command._commandName)`"), "\(command)")
        }
    }

    @Test func `pushspool(1) has an example of every command`() throws {
        let examples = try #require(try Manual.page("pushspool.1").components(separatedBy: "\n.SH EXAMPLES\n").last)
        for command in Self.commands {
            let isShown = examples.contains("\n$ pushspool \(command._commandName)")
            #expect(isShown, "\(command)")
        }
    }

    @Test func `pushspool(1) tells every default that the help tells`() throws {
        let page = try Manual.page("pushspool.1")
        for command in Self.all {
            for value in Self.defaults(in: Self.help(command)) where value != "0" {
                #expect(page.contains("Default: \(value)."), "\(command)")
            }
        }
    }

    private static func help(_ command: any ParsableCommand.Type) -> String {
        Pushspool.helpMessage(for: command, columns: 1000)
    }

    /// What stands behind `default:` up to the closing bracket.
    private static func defaults(in text: String) -> [Substring] {
        text.split(separator: "default: ").dropFirst().compactMap { $0.split(separator: ")").first }
    }

    private static func options(in text: String) -> Set<String> {
        Set(text.matches(of: #/--[a-z][a-z0-9-]*/#).map { String($0.output) })
    }
}
