import ArgumentParser
import CommandProgram
import JournalModel
import LinuxIO
import ServiceProcess
import SpoolInspection

/// The command `pushspool journal`.
struct ShowJournal: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Print a node's journal, one record per line.",
        discussion: """
            Prints the daemon's records of active jobs, oldest first; pushspool-journal(5) explains them. Only reads, so you \
            can use it while the daemon runs. Prints no tokens and no payloads.

            Example: pushspool journal /var/spool/pushspool/.pushspool/$(hostname)/journal
            """)

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("The journals; - reads names from standard input.", valueName: "file"),
        completion: .file())
    var files: [String]

    func run() throws {
        let hint = """
            give the path of a journal, <spool>/.pushspool/<node>/journal, and run as the daemon's user: only that user \
            can read it
            """
        try OutputBuffer.printing(hint: hint) { output in
            for file in try input.all(of: files) { try show(try OpenFile.open(path: file), on: &output) }
        }
    }

    private func show(_ journal: borrowing OpenFile, on output: inout OutputBuffer) throws {
        guard let reading = try JournalRegions(journal) else {
            try output.flush()
            Talk.complain(
                "\(journal.path) is not a journal of this version, or its first page is damaged",
                hint: "give the path of a journal, <spool>/.pushspool/<node>/journal")
            throw ExitCode.badInput
        }
        guard !json else {
            return try forEachRegion(of: journal, reading) { bytes, index in
                try output.append(JournalText.json(ofRegion: bytes, index: index))
            }
        }
        let head = "journal of node \(reading.label.node), \(reading.label.layout.regionCount.of("region"))"
        try output.append(lines: [head])
        try forEachRegion(of: journal, reading) {
            try output.append(lines: JournalText.lines(ofRegion: $0, index: $1))
        }
    }

    private func forEachRegion(
        of journal: borrowing OpenFile, _ reading: JournalRegions, _ body: ([UInt8], Int) throws -> Void
    ) throws {
        var replay = reading.replay
        for index in replay.readingOrder { try body(try reading.region(index, of: journal), index) }
    }
}
