import ArgumentParser
import CommandProgram
import LinuxIO
import ServiceProcess
import SpoolInspection
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
            Prints the lines of the files in <spool>/<app>/feedback/ of all apps and nodes, in the order in which they were \
            published. Removes nothing unless you use --consume, which deletes each file once all its lines are written. \
            If you name jobs, prints only their lines. Delivery is at least once: drop repeats by kind, id and index.

            Example: pushspool feedback --app weather --gone --format csv
            """)

    @OptionGroup var place: SpoolOption

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this app; repeatable.", valueName: "name"))
    var app: [String] = []

    @Option(help: ArgumentHelp("Only lines of this kind; repeatable.", valueName: "kind"))
    var kind: [Kind] = []

    @Option(help: ArgumentHelp("Only notifications with this outcome; repeatable.", valueName: "outcome"))
    var outcome: [Outcome] = []

    @Option(help: ArgumentHelp("Only lines with this verdict; repeatable.", valueName: "verdict"))
    var verdict: [Verdict] = []

    @Option(help: ArgumentHelp("Only lines with this reason; repeatable.", valueName: "reason"))
    var reason: [String] = []

    @Option(help: ArgumentHelp("Only lines of this job: its name or an id; repeatable.", valueName: "job"))
    var job: [String] = []

    @Option(help: ArgumentHelp("Only events since then, such as 7d or 2026-11-21.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("The output format: jsonl or csv.", valueName: "format"))
    var format = Format.jsonl

    @Flag(help: "The same as --format jsonl.")
    var json = false

    @Flag(help: "Print each token that is gone once, with its newest gone_since.")
    var gone = false

    @Flag(name: .shortAndLong, help: "Wait for new lines and print them.")
    var follow = false

    @Flag(help: "Delete each file once all its lines are written.")
    var consume = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Jobs, as for --job; - reads names from standard input.", valueName: "job"))
    var jobs: [String] = []

    func validate() throws {
        let filter = try filter(jobs: job + jobs)
        guard !gone || !(follow || consume) else {
            throw ValidationError("--gone only reads: do not combine it with --follow or --consume.")
        }
        guard !json || format == .jsonl else {
            throw ValidationError("--json means --format jsonl: use only one of them.")
        }
        guard !consume || filter.isEmpty else {
            throw ValidationError("--consume deletes the files that it reads: do not combine it with filters.")
        }
    }

    func run() async throws {
        let path = try place.path()
        do {
            let names = try job + input.all(of: jobs)
            // Standard input may have contained no names.
            if names.isEmpty, !jobs.isEmpty { return }
            let feedback = FeedbackFiles(spool: path, apps: app.once)
            var printing = FeedbackPrinting(feedback, filter: try filter(jobs: names), form: form, removes: consume)
            try printing.begin()
            while true {
                let isMore = try printing.printNext()
                if isMore { continue }
                guard follow else { break }
                try await Task.sleep(for: .milliseconds(500))
            }
            try printing.end()
            guard printing.isWhole else { throw ExitCode.badInput }
            try complain(ofMissing: JobQueries(names), met: printing.met)
        } catch let error as SystemError {
            // The reader has closed the pipe.
            if error.isBrokenPipe { return }
            Talk.complain("\(error)", hint: "check the spool's path, the app's name and the permissions")
            throw ExitCode.badInput
        }
    }

    private func complain(ofMissing jobs: JobQueries, met: Set<Int>) throws {
        let missing = jobs.all.indices.filter { !met.contains($0) }
        for position in missing {
            let job = jobs.all[position].text
            let show = "pushspool show\(place.repeated) \(ShellWord.quoted(job))"
            Talk.complain(
                "no feedback line is about \(job)",
                hint: "it may still be active, or its feedback was removed; see: \(show)")
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
        filter.jobs = JobQueries(jobs)
        filter.since = try TimeOption.time("--since", since)
        return filter
    }
}
