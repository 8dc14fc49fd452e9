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
    private static let resultEnding = Array(".result.json".utf8)

    let root: Directory
    let path: String
    /// The apps to search in.
    package let apps: [String]
    /// The jobs to search for.
    package let queries: JobQueries
    private var jobs: JobCases
    /// The paths without read permission.
    package private(set) var unreadable: Set<String> = []

    /// Creates a search for these jobs in these apps.
    package init(_ queries: JobQueries, apps: [String], in root: Directory, path: String) {
        (self.queries, self.apps) = (queries, apps)
        (self.root, self.path, jobs) = (root, path, JobCases(of: queries))
    }

    /// The jobs found.
    package var cases: [JobCase] { jobs.all }

    /// The positions of the requested jobs that were found.
    package var met: Set<Int> { jobs.met }

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
        jobs.add(StatusFile.all(of: path), apps: apps)
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
            guard let file = jobs[index].file, file.state == "waiting" else { continue }
            let parts = file.path.split(separator: "/").map(String.init)
            guard parts.count == 3, let name = FileName(escaped: parts[2]) else { continue }
            let path = [Array(parts[0].utf8), Array(parts[1].utf8), name.bytes]
            guard let verdict = try? verdict(on: path, name, since: file.since) else { continue }
            (jobs[index].notBefore, jobs[index].ownRef) = (verdict.notBefore, verdict.ref)
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
            let journal = JobCase.Journal(node: reading.label.node, lines: trace.lines)
            let index = jobs.index(of: id, app: facts.app, name: facts.name.escaped)
            jobs.add(journal, live: live, final: trace.final, at: index)
            jobs.meet(queries.positions(name: facts.name, id: id, app: facts.app))
        }
    }

    // MARK: Feedback

    private mutating func readFeedback(of app: String) throws {
        let files = try FeedbackFiles.readFiles(of: app, in: root) { file, feedback in
            try feedback.read(file) { _, line in
                if case .good(let node, _) = line { jobs.add(line: node, of: app) }
            }
        }
        unreadable.formUnion(files)
    }

    // MARK: Folders

    private mutating func lookInQueue(of app: String) throws(SystemError) {
        var entries: [QueueListing.Entry] = []
        let known = Set(cases.compactMap(\.id))
        let folders = try QueueListing.forEach(of: app, in: root, only: [.sending]) { entry in
            let isKnown = entry.id.map { known.contains($0) } ?? false
            if isKnown || !queries.positions(name: entry.name, id: entry.id, app: app).isEmpty { entries.append(entry) }
        }
        unreadable.formUnion(folders)
        for entry in entries {
            guard let id = entry.id else { continue }
            let index = jobs.index(of: id, app: app, name: entry.name.escaped)
            jobs[index].file = file(of: entry, at: "\(app)/work")
            jobs.meet(queries.positions(name: entry.name, id: id, app: app))
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
                let index = jobs.add(file, name, id: remainder?.sent?.id, of: app)
                jobs[index].remainder = remainder
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
            let index = jobs.add(file, numbered, id: result.flatMap { JobAccount($0)?.id }, of: day.app)
            if let result { jobs.add(result: result, at: index) }
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

    // MARK: File contents

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
                index = jobs.index(of: id, app: app, name: entry.name.escaped)
                jobs[index].file = file(of: entry, at: "\(app)/work")
            } else {
                let folder = entry.state == .held ? "hold" : "new"
                index = jobs.add(file(of: entry, at: "\(app)/\(folder)/\(entry.name)"), entry.name, id: nil, of: app)
            }
            jobs[index].ownRef = ref
            jobs.meet(queries.positions(ref: ref, of: app))
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
                let index = jobs.add(file, name, id: found.remainder.sent?.id, of: app)
                jobs[index].remainder = found.remainder
                jobs.meet(positions)
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
        let index = jobs.add(file, name, id: JobAccount(result)?.id, of: day.app)
        jobs.add(result: result, at: index)
        jobs.meet(positions)
    }
}
