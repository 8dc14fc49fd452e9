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

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("The journals; - for those whose names are on standard input.", valueName: "file"),
        completion: .file())
    var files: [String]

    func run() throws {
        let hint = """
            give the path of a journal, <spool>/.pushspool/<node>/journal, and run as the daemon's user, who alone may \
            read it
            """
        try OutputBuffer.printing(hint: hint) { output in
            for file in try input.all(of: files) { try show(try OpenFile.open(path: file), on: &output) }
        }
    }

    private func show(_ journal: borrowing OpenFile, on output: inout OutputBuffer) throws {
        guard let reading = try JournalReading(journal) else {
            try output.flush()
            Talk.complain(
                "\(journal.path) is no journal of this version, or its first page is damaged",
                hint: "give the path of a journal, <spool>/.pushspool/<node>/journal")
            throw ExitCode.badInput
        }
        let head = "journal of node \(reading.label.node), \(reading.label.layout.regionCount) regions"
        try output.append(lines: [head])
        var replay = reading.replay
        for index in replay.readingOrder {
            let bytes = try reading.region(index, of: journal)
            try output.append(lines: JournalText.lines(ofRegion: bytes, index: index))
        }
    }
}
