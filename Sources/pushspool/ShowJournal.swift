import ArgumentParser
import LinuxIO
import SpoolModel

/// `pushspool journal`.
struct ShowJournal: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Print a node's journal, a record a line.",
        discussion: """
            Prints what the daemon remembers of jobs that are being sent, oldest first; pushspool-journal(5) explains the \
            records. Reads only, and may be used while the daemon runs. No tokens and no payloads are printed.

            Example: pushspool journal /var/spool/pushspool/.pushspool/$(hostname)/journal
            """)

    @Argument(help: ArgumentHelp("The journals.", valueName: "file"), completion: .file())
    var files: [String]

    func run() throws {
        do {
            for file in files { try show(try OpenFile.open(path: file)) }
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "give the path of a journal, <spool>/.pushspool/<node>/journal")
            throw ExitCode.badInput
        }
    }

    private func show(_ journal: borrowing OpenFile) throws {
        guard let reading = try JournalReading(journal) else {
            Talk.complain(
                "\(journal.path) is no journal of this version, or its first page is damaged",
                hint: "give the path of a journal, <spool>/.pushspool/<node>/journal")
            throw ExitCode.badInput
        }
        Talk.say("journal of node \(reading.label.node), \(reading.label.layout.regionCount) regions")
        var replay = reading.replay
        for index in replay.readingOrder {
            let bytes = try reading.region(index, of: journal)
            for line in JournalText.lines(ofRegion: bytes, index: index) { Talk.say(line) }
        }
    }
}
