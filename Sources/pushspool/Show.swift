import ArgumentParser
import LinuxIO
import ServiceProcess
import SpoolInspection
import SpoolModel
import SpoolStore

/// The command `pushspool show`.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show everything that the spool knows about jobs.",
        discussion: """
            Prints where a job is, its history, the outcomes of its notifications and which are left, from the folders, \
            result files, feedback and, with permission, the journals. Name a job by its file name, by <app>/<name>, by its \
            id or by the producer's id. Exits with 1 if it finds nothing about one of the jobs.

            Example: pushspool show --app weather storm.json
            """)

    /// The most jobs searched for in one pass over the spool.
    private static let batchCount = 1000

    @OptionGroup var place: SpoolOption

    @Option(name: .shortAndLong, help: ArgumentHelp("Only jobs of this app; repeatable.", valueName: "name"))
    var app: [String] = []

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(help: ArgumentHelp("Jobs by name or id; - reads names from standard input.", valueName: "job"))
    var jobs: [String]

    func run() async throws {
        let path = try place.path()
        try OutputBuffer.printing(hint: SpoolOption.hint) { output in
            let root = try Directory.open(path: path)
            let apps = app.isEmpty ? try QueueListing.apps(in: root) : app.once
            let names = try input.all(of: jobs)
            var isAnyMissing = false
            for start in stride(from: 0, to: names.count, by: Self.batchCount) {
                let batch = Array(names[start..<min(start + Self.batchCount, names.count)])
                let search = try search(for: batch, of: apps, in: root, path)
                for found in search.cases {
                    if json { try output.append(found.json) } else { try output.append(lines: found.text) }
                }
                try output.flush()
                if complain(of: search) { isAnyMissing = true }
            }
            if isAnyMissing { throw ExitCode.failure }
        }
    }

    /// Searches again if a job was not found: it may have moved to a folder that had already been searched.
    private func search(for jobs: [String], of apps: [String], in root: Directory, _ path: String) throws -> JobSearch {
        var search = JobSearch(JobQueries(jobs), apps: apps, in: root, path: path)
        try search.run()
        if search.met.count < search.queries.all.count {
            search = JobSearch(JobQueries(jobs), apps: apps, in: root, path: path)
            try search.run()
        }
        search.readTimes()
        return search
    }

    /// Reports unreadable paths and missing jobs. Returns whether any job is missing.
    private func complain(of search: JobSearch) -> Bool {
        if !search.unreadable.isEmpty {
            let (first, rest) = (search.unreadable.sorted().prefix(4), max(0, search.unreadable.count - 4))
            let more = rest == 0 ? "" : ", and \(rest) more"
            let names = first.joined(separator: ", ") + more
            Talk.note("pushspool: no permission to read \(names), or not the daemon's files")
        }
        let option = place.repeated
        let missing = search.queries.all.indices.filter { !search.met.contains($0) }
        for position in missing {
            let places = "new/, work/, hold/, done/, failed/, feedback/ and the journals"
            Talk.complain(
                "found nothing about \(search.queries.all[position].text); searched \(places) "
                    + "of \(search.apps.count == 1 ? search.apps[0] : search.apps.count.of("app"))",
                hint: search.unreadable.isEmpty
                    ? "see: pushspool list\(option); pushspool feedback\(option) --kind job"
                    : "run as the daemon's user, who can read all folders")
        }
        return !missing.isEmpty
    }
}
