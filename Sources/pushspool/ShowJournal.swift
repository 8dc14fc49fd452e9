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

    @Argument(help: ArgumentHelp("The journal.", valueName: "file"))
    var file: String

    func run() throws {
        do {
            try show(try OpenFile.open(path: file))
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "give the path of a journal, <spool>/.pushspool/<node>/journal")
            throw ExitCode.badInput
        }
    }

    private func show(_ journal: borrowing OpenFile) throws {
        var page: [UInt8] = []
        _ = try journal.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
        guard let label = JournalLabel(bytes: page) else {
            Talk.complain(
                "\(file) is no journal of this version, or its first page is damaged",
                hint: "give the path of a journal, <spool>/.pushspool/<node>/journal")
            throw ExitCode.badInput
        }
        Talk.say("journal of node \(label.node), \(label.layout.regionCount) regions")
        var replay = JournalReplay(layout: label.layout)
        for index in 0..<label.layout.regionCount {
            replay.addHead(try region(index, JournalReplay.headByteCount, of: journal, label.layout), index: index)
        }
        for index in replay.readingOrder {
            let bytes = try region(index, label.layout.regionByteCount, of: journal, label.layout)
            for line in JournalText.lines(ofRegion: bytes, index: index) { Talk.say(line) }
        }
    }

    private func region(
        _ index: Int, _ byteCount: Int, of journal: borrowing OpenFile, _ layout: JournalLayout
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = try journal.read(byteCount, at: layout.offset(ofRegion: index), appendingTo: &bytes)
        return bytes
    }
}
