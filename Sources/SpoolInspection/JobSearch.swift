import Document
import JSON
import JobFormat
import JobOperations
import JournalModel
package import LinuxIO
import PushModel
package import SpoolModel
import SpoolStore

/// Searches a spool for jobs: in journals, feedback, folders and result files.
package struct JobSearch {
    /// The largest result file that is read. Larger ones belong to jobs with millions of outcomes.
    package static let resultByteLimit = 64 << 20
    /// The largest job that is read for its time to send.
    private static let waitingByteLimit: Int64 = 64 << 20
    /// The most distinct outcomes shown for one job.
    private static let refusalLimit = 100
    /// The most faults shown as text for one job.
    private static let faultLimit = 5
    private static let resultEnding = Array(".result.json".utf8)

    let root: Directory
    let path: String
    /// The apps to search in.
    package let apps: [String]
    /// The jobs to search for.
    package let queries: JobQueries
    /// The jobs found.
    package private(set) var cases: [JobCase] = []
    /// The positions of the requested jobs that were found.
    package private(set) var met: Set<Int> = []
    /// The paths without read permission.
    package private(set) var unreadable: Set<String> = []
    private var caseOfID: [JobID: Int] = [:]
    /// Jobs by the bytes of their paths, because distinct paths can be equal as strings.
    private var caseOfPath: [[UInt8]: Int] = [:]

    /// Creates a search for these jobs in these apps.
    package init(_ queries: JobQueries, apps: [String], in root: Directory, path: String) {
        (self.queries, self.apps) = (queries, apps)
        (self.root, self.path) = (root, path)
    }

    /// Searches everywhere.
    ///
    /// - Throws: `SystemError`: a folder cannot be read, for a reason other than permissions.
    package mutating func run() throws {
        try readJournals(for: queries)
        for app in apps {
            try readFeedback(of: app)
            try lookInQueue(of: app)
            try lookInArchives(of: app)
        }
        takeProgress()
        if isAnyToBeLookedForInside {
            for app in apps {
                try lookIntoRests(of: app)
                try lookIntoResults(of: app)
            }
        }
        // A producer's id may belong to an unfinished job, too, even if a finished one was found.
        if queries.all.contains(where: \.isRef) {
            for app in apps { try lookIntoQueue(of: app) }
        }
        // Journals do not record producers' ids, so jobs found by those are looked up again by their own ids.
        let untold = cases.filter(\.journals.isEmpty).compactMap { $0.id?.description }
        if !untold.isEmpty { try readJournals(for: JobQueries(untold)) }
    }

    /// Reads the time to send and the producer's id from the file of each waiting job. Skips files that are unreadable
    /// or very long.
    package mutating func readTimes() {
        for index in cases.indices {
            guard let file = cases[index].file, file.state == "waiting" else { continue }
            let parts = file.path.split(separator: "/").map(String.init)
            guard parts.count == 3, let name = FileName(escaped: parts[2]) else { continue }
            let path = [Array(parts[0].utf8), Array(parts[1].utf8), name.bytes]
            guard let verdict = try? verdict(on: path, name, since: file.since) else { continue }
            (cases[index].notBefore, cases[index].ownRef) = (verdict.notBefore, verdict.ref)
        }
    }

    /// Checks the file of a job that has not ended. A producer put it there, so links are not followed, and devices not
    /// opened.
    private func verdict(on path: [[UInt8]], _ name: FileName, since: WallTime) throws -> JobCheck.Verdict? {
        guard let file = path.last, name.isJob else { return nil }
        var folder = try root.openChild(path[0])
        for part in path.dropFirst().dropLast() { folder = try folder.openChild(part) }
        let opened = try folder.openRegular(file)
        let job = OpenJob(name: name, status: try opened.status(), file: opened)
        guard job.status.byteCount <= Self.waitingByteLimit else { return nil }
        return try JobCheck(for: nil).read(job, droppedAt: since)
    }

    // MARK: Journals

    private mutating func readJournals(for wanted: JobQueries) throws(SystemError) {
        let nodes: Directory
        do {
            nodes = try root.openChild(Array(".pushspool".utf8))
        } catch {
            if error.isNotFound { return }
            throw error
        }
        for node in try nodes.names() where node != Array("public".utf8) {
            do {
                try read(try nodes.openChild(node).openForReading(Array("journal".utf8)), for: wanted)
            } catch {
                // There is no journal yet, or the name is not a node's folder.
                if error.isNotFound || error.isNoDirectory { continue }
                guard error.isRefusal else { throw error }
                unreadable.insert(".pushspool/\(String(decoding: node, as: UTF8.self))/journal")
            }
        }
    }

    private mutating func read(_ journal: borrowing OpenFile, for wanted: JobQueries) throws(SystemError) {
        guard let reading = try JournalRegions(journal) else { return }
        var (history, replay) = (JournalHistory(wanted), reading.replay)
        for index in replay.readingOrder {
            let bytes = try reading.region(index, of: journal)
            history.addRegion(bytes, index: index)
            replay.addRegion(bytes, index: index)
        }
        replay.finish()
        for (id, trace) in history.traces.sorted(by: { $0.key.bits < $1.key.bits }) {
            let live = replay.jobs[id]
            guard let facts = trace.facts ?? live?.facts, apps.contains(facts.app) else { continue }
            let index = index(of: id, app: facts.app, name: facts.name.escaped)
            cases[index].journals.append(JobCase.Journal(node: reading.label.node, lines: trace.lines))
            cases[index].live = live ?? cases[index].live
            if let final = trace.final {
                let path = "\(facts.app)/\(final.conclusion.state.rawValue)/\(final.day)/\(final.name.escaped)"
                caseOfPath[Array(path.utf8)] = index
            }
            met.formUnion(queries.positions(name: facts.name, id: id, app: facts.app))
        }
    }

    // MARK: Feedback

    private mutating func readFeedback(of app: String) throws {
        let files = try FeedbackFiles.readFiles(of: app, in: root) { file, feedback in
            try feedback.read(file) { _, line in
                if case .good(let node, _) = line { take(node, of: app) }
            }
        }
        unreadable.formUnion(files)
    }

    private mutating func take(_ line: Node, of app: String) {
        let positions = queries.positions(by: line, of: app)
        guard !positions.isEmpty, let name = line["job"]?.string, let id = line["id"]?.string.flatMap({ JobID($0) })
        else { return }
        met.formUnion(positions)
        let index = index(of: id, app: app, name: name)
        if line["kind"]?.isText("job") == true, let account = JobAccount(line) {
            cases[index].line = account
            for member in line["unique_ids"].map({ Array($0.members) }) ?? [] {
                guard let number = Int(member.key.text), let id = member.value.string else { continue }
                cases[index].outcomes.note(uniqueIDs: [number: id])
            }
            if let path = account.path { caseOfPath[Array(path.utf8)] = index }
        } else if let outcome = line["outcome"]?.string {
            let words = [outcome, line["reason"]?.string, line["verdict"]?.string.map { "(\($0))" }]
            let text = words.compactMap(\.self).joined(separator: " ")
            let isRoom = cases[index].refusals[text] != nil || cases[index].refusals.count < Self.refusalLimit
            cases[index].refusals[isRoom ? text : "others", default: 0] += 1
            if let id = line["unique_id"]?.string, let number = line["index"]?.integer {
                cases[index].outcomes.note(uniqueIDs: [number: id])
            }
        }
    }

    // MARK: Folders

    private mutating func lookInQueue(of app: String) throws(SystemError) {
        var found: [QueueListing.Entry] = []
        let known = Set(cases.compactMap(\.id))
        let folders = try QueueListing.forEach(of: app, in: root, only: [.sending]) { entry in
            let isKnown = entry.id.map { known.contains($0) } ?? false
            if isKnown || !queries.positions(name: entry.name, id: entry.id, app: app).isEmpty { found.append(entry) }
        }
        unreadable.formUnion(folders)
        for entry in found {
            guard let id = entry.id else { continue }
            let index = index(of: id, app: app, name: entry.name.escaped)
            cases[index].file = file(of: entry, at: "\(app)/work")
            met.formUnion(queries.positions(name: entry.name, id: id, app: app))
        }
        for (folder, state) in [("new", "waiting"), ("hold", "held")] {
            try look(into: folder, state, of: app)
        }
    }

    private mutating func look(into folder: String, _ state: String, of app: String) throws(SystemError) {
        do {
            let directory = try root.openChild(Array(app.utf8)).openChild(Array(folder.utf8))
            for name in names(of: app) {
                guard let status = try directory.status(of: name.bytes) else { continue }
                let file = JobCase.File(
                    state: state, path: "\(app)/\(folder)/\(name)", byteCount: status.byteCount,
                    since: WallTime(nanoseconds: status.changedAt))
                let remainder = folder == "hold" ? try RemainderFile.beside(name, in: directory)?.remainder : nil
                let index = take(file, name, id: remainder?.sent?.id, of: app)
                cases[index].remainder = remainder
            }
        } catch {
            if error.isNotFound { return }
            guard error.isRefusal else { throw error }
            unreadable.insert("\(app)/\(folder)")
        }
    }

    /// The names under which the requested jobs may be stored in an app.
    private func names(of app: String) -> [FileName] {
        let wanted = queries.names.filter { $0.app == nil || $0.app == app }.map(\.name).filter(\.isJob)
        return (wanted + cases.filter { $0.app == app }.compactMap { FileName(escaped: $0.name) }).once
    }

    private mutating func lookInArchives(of app: String) throws(SystemError) {
        let (days, folders) = try ArchiveListing.days(of: app, in: root)
        unreadable.formUnion(folders)
        let names = names(of: app)
        for day in days {
            do {
                let directory = try day.open()
                for name in names { try look(for: name, in: directory, day) }
            } catch {
                if error.isNotFound { continue }
                guard error.isRefusal else { throw error }
                unreadable.insert("\(app)/\(day.folder.rawValue)/\(day.name)")
            }
        }
    }

    /// Looks for a name in an archive, and for the numbered names given to further jobs of that name.
    private mutating func look(
        for name: FileName, in directory: Directory, _ day: ArchiveListing.Day
    ) throws(SystemError) {
        for number in 1... {
            let numbered = name.numbered(number)
            guard let status = try directory.status(of: numbered.bytes) else {
                // A name that is too long to have a result file is shortened in the archive.
                let cut = name.shortened(toFit: FileName.byteLimitWithResult)
                if number == 1, cut != name { try look(for: cut, in: directory, day) }
                return
            }
            let file = JobCase.File(
                state: day.folder.rawValue, path: day.path(of: numbered), byteCount: status.byteCount,
                since: WallTime(nanoseconds: status.changedAt))
            let result = try resultNode(of: numbered, in: directory, day)
            let index = take(file, numbered, id: result.flatMap { JobAccount($0)?.id }, of: day.app)
            if let result { take(result, at: index) }
        }
    }

    private mutating func resultNode(
        of name: FileName, in directory: Directory, _ day: ArchiveListing.Day
    ) throws(SystemError) -> Node? {
        guard let resultName = name.result else { return nil }
        let found = try directory.contentsBesideJob(resultName, limit: Self.resultByteLimit) {
            unreadable.insert(day.path(of: resultName))
        }
        guard let bytes = found else { return nil }
        var parser = JSON.Parser()
        return (try? parser.parse(bytes))?.root
    }

    private mutating func take(_ result: Node, at index: Int) {
        cases[index].result = JobAccount(result)
        cases[index].indexes = (result["indexes"]?.members.map { IndexList($0) } ?? [])
        cases[index].faults = ResultSummary.faults(in: result, limit: Self.faultLimit)
        cases[index].diagnostics = Self.diagnostics(in: result)
    }

    /// The faults listed in a result file, as JSON on one line.
    private static func diagnostics(in result: Node) -> [UInt8]? {
        guard let list = result["diagnostics"], list.kind == .sequence else { return nil }
        return try? JSONText.bytes(of: list)
    }

    /// Adds a file to the job to which it belongs, or creates a job for it.
    @discardableResult
    private mutating func take(_ file: JobCase.File, _ name: FileName, id: JobID?, of app: String) -> Int {
        let index: Int
        if let known = caseOfPath[Array(file.path.utf8)] {
            index = known
        } else if let id {
            index = self.index(of: id, app: app, name: name.escaped)
        } else if let open = cases.firstIndex(where: {
            $0.isOpen && $0.app == app && FileName(escaped: $0.name) == name
        }) {
            // The job was claimed before, and is now waiting again or held.
            index = open
        } else {
            index = cases.count
            cases.append(JobCase(app: app, name: name.escaped, id: nil))
        }
        caseOfPath[Array(file.path.utf8)] = index
        cases[index].file = file
        met.formUnion(queries.positions(name: name, id: id ?? cases[index].id, app: app))
        return index
    }

    private mutating func index(of id: JobID, app: String, name: String) -> Int {
        if let known = caseOfID[id] { return known }
        caseOfID[id] = cases.count
        cases.append(JobCase(app: app, name: name, id: id))
        return cases.count - 1
    }

    // MARK: Status and file contents

    private mutating func takeProgress() {
        let daemons = StatusFile.all(of: path)
        for daemon in daemons {
            for left in daemon.left {
                for index in cases.indices where cases[index].file?.node == left.node {
                    cases[index].nodeWords = left.reason ?? "does not run; node \(daemon.node) finishes its jobs"
                }
            }
        }
        for app in daemons.flatMap(\.apps) where apps.contains(app.name) {
            for job in app.progress {
                let positions = queries.positions(name: FileName(escaped: job.name), id: job.id, app: app.name)
                guard !positions.isEmpty else { continue }
                met.formUnion(positions)
                let index = index(of: job.id, app: app.name, name: job.name)
                cases[index].waitReason = job.reason
                if cases[index].live == nil { cases[index].progress = job }
            }
        }
    }

    /// Whether the jobs still missing include one that is named by an id or a producer's id instead of a file name.
    private var isAnyToBeLookedForInside: Bool {
        queries.all.indices.contains { !met.contains($0) && queries.all[$0].name?.isJob != true }
    }

    /// Reads the files of unfinished jobs, which are the only source of their producers' ids.
    private mutating func lookIntoQueue(of app: String) throws(SystemError) {
        var found: [(entry: QueueListing.Entry, ref: String)] = []
        let folders = try QueueListing.forEach(of: app, in: root) { entry in
            // Skip a file that cannot be read, or has been removed.
            let verdict = try? verdict(on: [Array(app.utf8)] + entry.path, entry.name, since: entry.since)
            guard let ref = verdict?.ref, !queries.positions(ref: ref, of: app).isEmpty else { return }
            found.append((entry, ref))
        }
        unreadable.formUnion(folders)
        for (entry, ref) in found {
            let index: Int
            if let id = entry.id {
                index = self.index(of: id, app: app, name: entry.name.escaped)
                cases[index].file = file(of: entry, at: "\(app)/work")
            } else {
                let folder = entry.state == .held ? "hold" : "new"
                index = take(file(of: entry, at: "\(app)/\(folder)/\(entry.name)"), entry.name, id: nil, of: app)
            }
            cases[index].ownRef = ref
            met.formUnion(queries.positions(ref: ref, of: app))
        }
    }

    private func file(of entry: QueueListing.Entry, at path: String) -> JobCase.File {
        JobCase.File(
            state: entry.state.rawValue, path: path, byteCount: entry.byteCount, since: entry.since, node: entry.node)
    }

    private mutating func lookIntoRests(of app: String) throws(SystemError) {
        do {
            let hold = try root.openChild(Array(app.utf8)).openChild(Array("hold".utf8))
            for bytes in try hold.names() {
                guard let name = FileName(bytes: bytes)?.withoutRest,
                    let found = try RemainderFile.beside(name, in: hold)
                else { continue }
                let positions = queries.positions(by: found.node, of: app)
                guard !positions.isEmpty, let status = try hold.status(of: name.bytes) else { continue }
                let file = JobCase.File(
                    state: "held", path: "\(app)/hold/\(name)", byteCount: status.byteCount,
                    since: WallTime(nanoseconds: status.changedAt))
                let index = take(file, name, id: found.remainder.sent?.id, of: app)
                cases[index].remainder = found.remainder
                met.formUnion(positions)
            }
        } catch {
            guard error.isNotFound || error.isRefusal else { throw error }
        }
    }

    private mutating func lookIntoResults(of app: String) throws(SystemError) {
        let (days, _) = try ArchiveListing.days(of: app, in: root)
        for day in days {
            do {
                let directory = try day.open()
                var listing = try directory.listing()
                while let entry = try listing.next() {
                    guard entry.name.suffix(Self.resultEnding.count) == Self.resultEnding[...],
                        let name = FileName(bytes: Array(entry.name.dropLast(Self.resultEnding.count)))
                    else { continue }
                    try lookInside(name, in: directory, day)
                }
            } catch {
                guard error.isNotFound || error.isRefusal else { throw error }
            }
        }
    }

    private mutating func lookInside(
        _ name: FileName, in directory: Directory, _ day: ArchiveListing.Day
    ) throws(SystemError) {
        guard let result = try resultNode(of: name, in: directory, day) else { return }
        let positions = queries.positions(by: result, of: day.app)
        guard !positions.isEmpty, let status = try directory.status(of: name.bytes) else { return }
        let file = JobCase.File(
            state: day.folder.rawValue, path: day.path(of: name), byteCount: status.byteCount,
            since: WallTime(nanoseconds: status.changedAt))
        let index = take(file, name, id: JobAccount(result)?.id, of: day.app)
        take(result, at: index)
        met.formUnion(positions)
    }
}
