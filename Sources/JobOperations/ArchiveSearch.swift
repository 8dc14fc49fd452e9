import Document
import JSON
import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore

/// Searches the archives for a job, in small steps: by name one day at a time, by id in the result files.
struct ArchiveSearch {
    private let spool: AppSpool
    private let reference: JobReference
    /// The days and places still to be searched, the newest last.
    private var days: [(folder: ArchiveFolder, day: String)]?
    private var places: [ArchivePlace] = []

    /// The job, if it was found.
    private(set) var found: ArchivePlace?

    init(_ reference: JobReference, _ spool: AppSpool) {
        (self.reference, self.spool) = (reference, spool)
    }

    /// The most result files read in one step.
    private static let stepCount = 64

    /// Searches a little further, and returns whether the search has ended.
    ///
    /// - Throws: `SystemError`: an archive cannot be read.
    mutating func step() throws(SystemError) -> Bool {
        if days == nil { days = try allDays() }
        if case .name = reference.subject { return try lookForName() }
        for _ in 0..<Self.stepCount {
            guard let place = places.popLast() else {
                guard let next = days?.popLast() else { return true }
                places = try spool.archives.places(of: next.day, in: next.folder)
                return false
            }
            guard let head = try spool.archives.resultHead(at: place), isMeant(head) else { continue }
            found = place
            return true
        }
        return false
    }

    private func allDays() throws(SystemError) -> [(folder: ArchiveFolder, day: String)] {
        var days: [(folder: ArchiveFolder, day: String)] = []
        if reference.mayBe(in: .failed) { days += try all(.failed) }
        if reference.mayBe(in: .done) { days += try all(.done) }
        if let day = reference.day { days.removeAll { $0.day != day } }
        // Within a day search `failed/` first: failed jobs are retried more often.
        return days.sorted { ($0.day, $0.folder == .failed ? 1 : 0) < ($1.day, $1.folder == .failed ? 1 : 0) }
    }

    private func all(_ folder: ArchiveFolder) throws(SystemError) -> [(folder: ArchiveFolder, day: String)] {
        try spool.archives.days(of: folder).map { (folder: folder, day: $0) }
    }

    private mutating func lookForName() throws(SystemError) -> Bool {
        guard let next = days?.popLast() else { return true }
        for name in reference.names where name.isJob {
            let place = ArchivePlace(folder: next.folder, day: next.day, name: name)
            if try spool.archives.status(at: place) != nil { found = place }
        }
        return found != nil
    }

    /// Whether the beginning of a result file names the job. The file has one member per line, and the names come
    /// before all long members.
    private func isMeant(_ head: [UInt8]) -> Bool {
        switch reference.subject {
        case .name: false
        case .id(let id): head.contains(member: "id", id.description)
        case .ref(let ref): head.contains(member: "ref", ref)
        }
    }
}

extension [UInt8] {
    /// Whether a result file contains this member, with another member after it.
    fileprivate func contains(member name: String, _ value: String) -> Bool {
        var writer = JSONWriter(appendingTo: Array("\n  \"\(name)\": ".utf8))
        writer.string(value)
        return firstRange(of: writer.bytes + [UInt8(ascii: ",")]) != nil
    }
}

extension HeldJobs {
    /// Determines which part of an archived job to resend.
    ///
    /// - Throws: `ControlFault`: there is nothing to resend; `SystemError`: the result file cannot be read.
    func plan(of place: ArchivePlace, _ request: ControlRequest) throws -> RetryPlan {
        let bytes = try spool.archives.result(at: place, limit: Remainder.byteLimit)
        guard !request.isWhole else { return .whole(place.name) }
        guard let bytes else {
            throw ControlFault(
                "nothing is left to send, or it has no result file", hint: "--whole sends all of it again",
                hasNothingToDo: true)
        }
        var parser = JSON.Parser()
        guard let tape = try? parser.parse(bytes) else {
            throw ControlFault("its result file cannot be read", hint: "--whole sends all of it again")
        }
        return try RetryPlan(tape.root, includingUnknown: request.includesUnknown)
    }
}

extension RetryPlan {
    /// The id that the job keeps; `nil` if it becomes a new job.
    var id: JobID? {
        switch self {
        case .whole: nil
        case .rest(_, let sent): sent.id
        }
    }

    /// Describes the plan.
    func answer(_ kind: ControlAnswer.Kind) -> ControlAnswer {
        switch self {
        case .whole: ControlAnswer(kind, "\(kind == .planned ? "would resend" : "resending") all of it as a new job")
        case .rest(_, let sent):
            ControlAnswer(
                kind,
                "\(kind == .planned ? "would resend" : "resending") \(sent.progress.remaining.count) "
                    + "of \(sent.count) notifications")
        }
    }
}
