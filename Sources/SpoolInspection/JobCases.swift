import Document
import JSON
import JobFormat
import JournalModel
import PushModel
import SpoolModel

/// The jobs that a search has found. Whatever concerns one job, wherever it was read, is added to one case.
struct JobCases {
    /// The most distinct outcomes shown for one job.
    private static let refusalLimit = 100
    /// The most faults shown as text for one job.
    private static let faultLimit = 5

    private let queries: JobQueries
    /// The jobs, in the order in which they were found.
    private(set) var all: [JobCase] = []
    /// The positions of the requested jobs that were found.
    private(set) var met: Set<Int> = []
    private var indexOfID: [JobID: Int] = [:]
    /// Jobs by the bytes of their paths, because distinct paths can be equal as strings.
    private var indexOfPath: [[UInt8]: Int] = [:]

    init(of queries: JobQueries) {
        self.queries = queries
    }

    subscript(index: Int) -> JobCase {
        get { all[index] }
        set { all[index] = newValue }
    }

    /// Records that the requested jobs at these positions were found.
    mutating func meet(_ positions: [Int]) { met.formUnion(positions) }

    /// Returns the index of the job with this id. Creates a case if there is none.
    mutating func index(of id: JobID, app: String, name: String) -> Int {
        if let known = indexOfID[id] { return known }
        indexOfID[id] = all.count
        all.append(JobCase(app: app, name: name, id: id))
        return all.count - 1
    }

    /// Adds a file to the job to which it belongs, or creates a case for it.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - name: Its name.
    ///   - id: The id of its job, if known.
    ///   - app: The app.
    /// - Returns: The job's index.
    mutating func add(_ file: JobCase.File, _ name: FileName, id: JobID?, of app: String) -> Int {
        let index: Int
        if let known = indexOfPath[Array(file.path.utf8)] {
            index = known
        } else if let id {
            index = self.index(of: id, app: app, name: name.escaped)
        } else if let open = all.firstIndex(where: { $0.isOpen && $0.app == app && FileName(escaped: $0.name) == name })
        {
            // The job was claimed before, and is now waiting again or held.
            index = open
        } else {
            index = all.count
            all.append(JobCase(app: app, name: name.escaped, id: nil))
        }
        indexOfPath[Array(file.path.utf8)] = index
        all[index].file = file
        meet(queries.positions(name: name, id: id ?? all[index].id, app: app))
        return index
    }

    /// Adds what a journal records of a job.
    mutating func add(_ journal: JobCase.Journal, live: JournalJob?, final: JournalFinal?, at index: Int) {
        all[index].journals.append(journal)
        all[index].live = live ?? all[index].live
        guard let final else { return }
        let folder = "\(all[index].app)/\(final.conclusion.state.rawValue)/\(final.day)"
        indexOfPath[Array("\(folder)/\(final.name.escaped)".utf8)] = index
    }

    /// Adds a result file.
    mutating func add(result: Node, at index: Int) {
        all[index].result = JobAccount(result)
        all[index].indexes = (result["indexes"]?.members.map { IndexList($0) } ?? [])
        all[index].faults = ResultSummary.faults(in: result, limit: Self.faultLimit)
        all[index].diagnostics = Self.diagnostics(in: result)
    }

    /// The faults listed in a result file, as JSON on one line.
    private static func diagnostics(in result: Node) -> [UInt8]? {
        guard let list = result["diagnostics"], list.kind == .sequence else { return nil }
        return try? JSONText.bytes(of: list)
    }

    /// Adds a line of feedback if it concerns a requested job.
    mutating func add(line: Node, of app: String) {
        let positions = queries.positions(by: line, of: app)
        guard !positions.isEmpty, let name = line["job"]?.string, let id = line["id"]?.string.flatMap({ JobID($0) })
        else { return }
        meet(positions)
        let index = index(of: id, app: app, name: name)
        if line["kind"]?.isText("job") == true, let account = JobAccount(line) {
            all[index].line = account
            for member in line["unique_ids"].map({ Array($0.members) }) ?? [] {
                guard let number = Int(member.key.text), let id = member.value.string else { continue }
                all[index].outcomes.note(uniqueIDs: [number: id])
            }
            if let path = account.path { indexOfPath[Array(path.utf8)] = index }
        } else if let outcome = line["outcome"]?.string {
            let words = [outcome, line["reason"]?.string, line["verdict"]?.string.map { "(\($0))" }]
            let text = words.compactMap(\.self).joined(separator: " ")
            let isRoom = all[index].refusals[text] != nil || all[index].refusals.count < Self.refusalLimit
            all[index].refusals[isRoom ? text : "others", default: 0] += 1
            if let id = line["unique_id"]?.string, let number = line["index"]?.integer {
                all[index].outcomes.note(uniqueIDs: [number: id])
            }
        }
    }

    /// Adds what daemons report about nodes that do not run, and about requested jobs of these apps.
    mutating func add(_ daemons: [SpoolStatus], apps: [String]) {
        for daemon in daemons {
            for left in daemon.left {
                for index in all.indices where all[index].file?.node == left.node {
                    all[index].nodeWords = left.reason ?? "does not run; node \(daemon.node) finishes its jobs"
                }
            }
        }
        for app in daemons.flatMap(\.apps) where apps.contains(app.name) {
            for job in app.progress {
                let positions = queries.positions(name: FileName(escaped: job.name), id: job.id, app: app.name)
                guard !positions.isEmpty else { continue }
                meet(positions)
                let index = index(of: job.id, app: app.name, name: job.name)
                all[index].waitReason = job.reason
                if all[index].live == nil { all[index].progress = job }
            }
        }
    }
}
