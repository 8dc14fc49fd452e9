import ArgumentParser
import LinuxIO
import SpoolModel

/// The command `pushspool feedback`.
struct Feedback: AsyncParsableCommand {
    /// The output format.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case jsonl, csv
    }

    /// The kinds of lines.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case job, notification, token
    }

    /// The outcomes of notifications.
    enum Outcome: String, CaseIterable, ExpressibleByArgument {
        case accepted, rejected, expired, unsent, unknown
    }

    /// The verdicts: how to react to an outcome.
    enum Verdict: String, CaseIterable, ExpressibleByArgument {
        case gone, invalid, message, config, later
    }

    static let configuration = CommandConfiguration(
        abstract: "Print the feedback of apps, oldest first.",
        discussion: """
            Reads the files in <spool>/<app>/feedback/ of all apps and nodes in the order in which they were published, \
            and prints their lines. Removes nothing, unless --consume is given: then each file goes when all its lines are \
            written. With jobs, only their lines are printed. Lines come at least once: drop repeats by kind, id and index.

            Example: pushspool feedback --app weather --gone --format csv
            """)

    @OptionGroup var place: SpoolOption

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this app; may be given again.", valueName: "name"))
    var app: [String] = []

    @Option(help: ArgumentHelp("Only lines of this kind; may be given again.", valueName: "kind"))
    var kind: [Kind] = []

    @Option(help: ArgumentHelp("Only notifications with this outcome; may be given again.", valueName: "outcome"))
    var outcome: [Outcome] = []

    @Option(help: ArgumentHelp("Only lines with this verdict; may be given again.", valueName: "verdict"))
    var verdict: [Verdict] = []

    @Option(help: ArgumentHelp("Only lines with this reason; may be given again.", valueName: "reason"))
    var reason: [String] = []

    @Option(help: ArgumentHelp("Only lines of this job: its name or an id; may be given again.", valueName: "job"))
    var job: [String] = []

    @Option(help: ArgumentHelp("Only what came about since then, such as 7d or 2026-11-21.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("How to print: jsonl or csv.", valueName: "format"))
    var format = Format.jsonl

    @Flag(help: "The same as --format jsonl.")
    var json = false

    @Flag(help: "Print the tokens that are gone, each once, with the newest time since when.")
    var gone = false

    @Flag(name: .shortAndLong, help: "Wait for more, and print it as it comes.")
    var follow = false

    @Flag(help: "Remove each file when all its lines are written.")
    var consume = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Jobs, as for --job; - for those that standard input names.", valueName: "job"))
    var jobs: [String] = []

    func validate() throws {
        let filter = try filter(jobs: job + jobs)
        guard !gone || !(follow || consume) else {
            throw ValidationError("--gone tells what is there, and removes nothing: no --follow, no --consume.")
        }
        guard !json || format == .jsonl else { throw ValidationError("--json is --format jsonl: leave one out.") }
        guard !consume || filter.isEmpty else {
            throw ValidationError("--consume prints all lines: what another option left out would be lost.")
        }
    }

    func run() async throws {
        let path = try place.path()
        do {
            let names = try job + input.all(of: jobs)
            // Standard input may have contained no names.
            if names.isEmpty, !jobs.isEmpty { return }
            let shelf = FeedbackShelf(root: try Directory.open(path: path), apps: app.once)
            var printing = FeedbackPrinting(shelf, filter: try filter(jobs: names), form: form, removes: consume)
            try printing.begin()
            while true {
                let isMore = try printing.printNext()
                if isMore { continue }
                guard follow else { break }
                try await Task.sleep(for: .milliseconds(500))
            }
            try printing.end()
            guard printing.isWhole else { throw ExitCode.badInput }
            try complain(ofMissing: JobWishes(names), met: printing.met)
        } catch let error as SystemError {
            // The reader has closed the pipe.
            if error.isBrokenPipe { return }
            Talk.complain("\(error)", hint: "check the spool's path, the app's name, and the permissions")
            throw ExitCode.badInput
        }
    }

    private func complain(ofMissing jobs: JobWishes, met: Set<Int>) throws {
        let missing = jobs.all.indices.filter { !met.contains($0) }
        for position in missing {
            let job = jobs.all[position].text
            let show = "pushspool show\(place.repeated) \(ShellWord.quoted(job))"
            Talk.complain(
                "no line of feedback is about \(job)", hint: "it may not be over, or its feedback was taken: \(show)")
        }
        if !missing.isEmpty { throw ExitCode.failure }
    }

    private var form: FeedbackPrinting.Form {
        switch (gone, format) {
        case (true, .jsonl): .goneLines
        case (true, .csv): .goneTable
        case (false, .jsonl): .lines
        case (false, .csv): .table
        }
    }

    private func filter(jobs: [String]) throws -> FeedbackFilter {
        var filter = FeedbackFilter()
        filter.kinds = kind.map(\.rawValue)
        filter.outcomes = outcome.map(\.rawValue)
        filter.verdicts = verdict.map(\.rawValue)
        filter.reasons = reason
        filter.jobs = JobWishes(jobs)
        filter.since = try TimeOption.time("--since", since)
        return filter
    }
}
