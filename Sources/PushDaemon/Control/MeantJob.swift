import LinuxIO
import SpoolModel
import SpoolStore

/// A job that an operator means, and where it is.
enum MeantJob {
    case waiting(SeenFile)
    case held(SeenFile)
    /// Being sent, or left behind by an earlier daemon.
    case claimed(ClaimedJob)

    /// What names it, and no other job, in a command.
    func text(in app: String) -> String {
        switch self {
        case .waiting(let file): "\(app)/new/\(file.name)"
        case .held(let file): "\(app)/hold/\(file.name)"
        case .claimed(let job): "\(app)/\(job.id)"
        }
    }
}

extension ControlFault {
    /// Refuses to choose: what is done to the wrong job cannot be undone.
    ///
    /// - Parameter candidates: What would name each of the jobs that may be meant.
    /// - Throws: `ControlFault` that names all of them, or the first few.
    static func requireOne(_ candidates: [String]) throws(ControlFault) {
        guard candidates.count > 1 else { return }
        let shown = candidates.prefix(5).joined(separator: ", ") + (candidates.count > 5 ? ", …" : "")
        throw ControlFault("\(candidates.count) jobs may be meant: \(shown)", hint: "name one of them like that")
    }
}

extension ControlFault {
    /// Says where a job is that a command cannot be carried out for.
    init(lyingIn job: MeantJob) {
        switch job {
        case .waiting: self.init("it waits in new/", hint: nil)
        case .held: self.init("it is in hold/ already", hint: nil)
        case .claimed: self.init("it is being sent", hint: nil)
        }
    }

    /// Says in which archive a job is that a command cannot be carried out for.
    init(over place: ArchivePlace) {
        self.init("it is over, and already in \(place.folder.rawValue)/\(place.day)/", hint: nil)
    }
}

extension HoldDesk {
    /// Looks for all jobs of some folders that an operator may mean.
    ///
    /// - Parameters:
    ///   - reference: What the operator wrote.
    ///   - folders: Where they may be.
    ///   - claimed: Those of the jobs in `work/` that may be meant.
    /// - Returns: All of them.
    /// - Throws: `SystemError`: a file cannot be looked at.
    func allMeant(
        _ reference: JobReference, in folders: Set<JobReference.Folder>, claimed: [ClaimedJob]
    ) throws(SystemError) -> [MeantJob] {
        var found: [MeantJob] = []
        if folders.contains(.new), reference.mayBe(in: .new) {
            found += try files(reference) { name throws(SystemError) in try spool.look(name) }.map { .waiting($0) }
        }
        if folders.contains(.hold), reference.mayBe(in: .hold) {
            found += try files(reference) { name throws(SystemError) in try spool.lookInHold(name) }.map { .held($0) }
        }
        if folders.contains(.work), reference.mayBe(in: .work) { found += claimed.map { .claimed($0) } }
        return found
    }

    /// Looks for the job of some folders that an operator means.
    ///
    /// - Parameters:
    ///   - reference: What the operator wrote.
    ///   - folders: Where it may be.
    ///   - claimed: Those of the jobs in `work/` that may be meant.
    /// - Returns: The job; `nil` if there is none.
    /// - Throws: `ControlFault`: several may be; `SystemError`: a file cannot be looked at.
    func meant(
        _ reference: JobReference, in folders: Set<JobReference.Folder>, claimed: [ClaimedJob] = []
    ) throws -> MeantJob? {
        let found = try allMeant(reference, in: folders, claimed: claimed)
        try ControlFault.requireOne(found.map { $0.text(in: spool.name) })
        return found.first
    }

    /// The file that is called so; or those that were parked as a job with this id.
    private func files(
        _ reference: JobReference, by look: (FileName) throws(SystemError) -> SeenFile?
    ) throws(SystemError) -> [SeenFile] {
        var found: [SeenFile] = []
        for name in reference.names + parkedNames(of: reference) {
            guard let seen = try look(name) else { continue }
            if case .name = reference.subject { return [seen] }
            if isMeant(seen.status, by: reference) { found.append(seen) }
        }
        return found
    }

    private func isMeant(_ status: FileStatus, by reference: JobReference) -> Bool {
        entry(of: status)?.isMeant(by: reference) == true
    }
}

extension HoldDesk.Entry {
    /// Whether an operator means this job, by one of its ids.
    func isMeant(by reference: JobReference) -> Bool {
        switch reference.subject {
        case .name: false
        case .id(let id): self.id == id
        case .ref(let ref): self.ref == ref
        }
    }
}
