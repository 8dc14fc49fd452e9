import APNSModel
import Document
import JSON
import LinuxIO
import SpoolModel
import SpoolStore

/// Looks for a job in the archives, a little at a time: by its name day by day, by one of its ids in result files.
struct ArchiveSearch {
    private let desk: HoldDesk
    private let reference: JobReference
    /// What is still to be looked at, the newest last.
    private var days: [(folder: ArchiveFolder, day: String)]?
    private var places: [ArchivePlace] = []

    /// The job, once it is found.
    private(set) var found: ArchivePlace?

    init(_ reference: JobReference, _ desk: HoldDesk) {
        (self.reference, self.desk) = (reference, desk)
    }

    /// How many files are read in a step.
    private static let stepCount = 64

    /// Looks a little further; whether it is over.
    ///
    /// - Throws: `SystemError`: an archive cannot be read.
    mutating func step() throws(SystemError) -> Bool {
        if days == nil { days = try allDays() }
        if case .name = reference.subject { return try lookForName() }
        for _ in 0..<Self.stepCount {
            guard let place = places.popLast() else {
                guard let next = days?.popLast() else { return true }
                places = try desk.spool.places(of: next.day, in: next.folder)
                return false
            }
            guard let head = try desk.spool.resultHead(at: place), isMeant(head) else { continue }
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
        // Of one day what failed comes first: that is more often tried again.
        return days.sorted { ($0.day, $0.folder == .failed ? 1 : 0) < ($1.day, $1.folder == .failed ? 1 : 0) }
    }

    private func all(_ folder: ArchiveFolder) throws(SystemError) -> [(folder: ArchiveFolder, day: String)] {
        try desk.spool.days(of: folder).map { (folder: folder, day: $0) }
    }

    private mutating func lookForName() throws(SystemError) -> Bool {
        guard let next = days?.popLast() else { return true }
        for name in reference.names where name.isJob {
            let place = ArchivePlace(folder: next.folder, day: next.day, name: name)
            if try desk.spool.archived(at: place) != nil { found = place }
        }
        return found != nil
    }

    /// Whether the first lines of a result file name the job: a member a line, the names before all that is long.
    private func isMeant(_ head: [UInt8]) -> Bool {
        switch reference.subject {
        case .name: false
        case .id(let id): head.contains(member: "id", id.description)
        case .ref(let ref): head.contains(member: "ref", ref)
        }
    }
}

extension [UInt8] {
    /// Whether a member of a result file is there, and not its last.
    fileprivate func contains(member name: String, _ value: String) -> Bool {
        var writer = JSONWriter(appendingTo: Array("\n  \"\(name)\": ".utf8))
        writer.string(value)
        return firstRange(of: writer.bytes + [UInt8(ascii: ",")]) != nil
    }
}

extension HoldDesk {
    /// What is to be sent again of a job that is over.
    ///
    /// - Throws: `ControlFault`: nothing; `SystemError`: that cannot be read.
    func plan(of place: ArchivePlace, _ request: ControlRequest) throws -> RetryPlan {
        let bytes = try spool.result(at: place, limit: Rest.byteLimit)
        guard !request.isWhole else { return .whole(place.name) }
        guard let bytes else {
            throw ControlFault(
                "all of it was accepted, or it has no result file", hint: "--whole sends all of it again")
        }
        var parser = JSON.Parser()
        guard let tape = try? parser.parse(bytes) else {
            throw ControlFault("its result file cannot be read", hint: "--whole sends all of it again")
        }
        return try RetryPlan(tape.root, includingUnknown: request.includesUnknown)
    }
}

extension RetryPlan {
    /// The id that the job keeps.
    var id: JobID? {
        switch self {
        case .whole: nil
        case .rest(_, let sent): sent.id
        }
    }

    /// What is sent, in words.
    func answer(_ kind: ControlAnswer.Kind) -> ControlAnswer {
        switch self {
        case .whole: ControlAnswer(kind, "all of it is sent, as a new job")
        case .rest(_, let sent):
            ControlAnswer(kind, "\(sent.progress.remaining.count) of \(sent.count) notifications are sent")
        }
    }
}
