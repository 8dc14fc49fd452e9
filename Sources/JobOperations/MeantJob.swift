import JobFormat
import LinuxIO
package import SpoolModel
import SpoolStore

/// A job to which a command refers, and its place.
enum MeantJob {
    case waiting(SeenFile)
    case held(SeenFile)
    /// Being sent, or left in `work/` by an earlier daemon.
    case claimed(ClaimedJob)

    /// An unambiguous reference to the job, for use in commands.
    func text(in app: String) -> String {
        switch self {
        case .waiting(let file): "\(app)/new/\(file.name)"
        case .held(let file): "\(app)/hold/\(file.name)"
        case .claimed(let job): "\(app)/\(job.id)"
        }
    }
}

extension ControlFault {
    /// Refuses an ambiguous command, because a command for the wrong job cannot be undone.
    ///
    /// - Parameter candidates: An unambiguous reference to each matching job.
    /// - Throws: `ControlFault` that lists all of them, or the first few.
    package static func requireOne(_ candidates: [String]) throws(ControlFault) {
        guard candidates.count > 1 else { return }
        let shown = candidates.prefix(5).joined(separator: ", ") + (candidates.count > 5 ? ", …" : "")
        throw ControlFault("\(candidates.count) jobs match: \(shown)", hint: "give one of these names")
    }
}

extension ControlFault {
    /// Creates the error for a job to which a command does not apply because of its folder.
    init(lyingIn job: MeantJob) {
        switch job {
        case .waiting: self.init("it is waiting in new/", hint: nil)
        case .held: self.init("already in hold/", hint: nil, hasNothingToDo: true)
        case .claimed: self.init("it is being sent", hint: nil)
        }
    }

    /// Creates the error for an archived job to which a command does not apply.
    init(over place: ArchivePlace) {
        self.init("already in \(place.folder.rawValue)/\(place.day)/", hint: nil, hasNothingToDo: true)
    }
}

extension HeldJobs {
    /// Finds all jobs in `new/` and `hold/` to which a command may refer.
    ///
    /// - Parameters:
    ///   - reference: The operator's reference to the job.
    ///   - folders: The folders to search.
    /// - Returns: All matching jobs.
    /// - Throws: `SystemError`: a file cannot be examined.
    func allMeant(
        _ reference: JobReference, in folders: Set<JobReference.Folder>
    ) throws(SystemError) -> [MeantJob] {
        var found: [MeantJob] = []
        if folders.contains(.new), reference.mayBe(in: .new) {
            found += try files(reference) { name throws(SystemError) in try spool.look(name) }.map { .waiting($0) }
        }
        if folders.contains(.hold), reference.mayBe(in: .hold) {
            found += try files(reference) { name throws(SystemError) in try spool.hold.look(name) }.map { .held($0) }
        }
        return found
    }

    /// The file with the given name, or the held files of jobs with the given id.
    private func files(
        _ reference: JobReference, by look: (FileName) throws(SystemError) -> SeenFile?
    ) throws(SystemError) -> [SeenFile] {
        var found: [SeenFile] = []
        for name in try reference.names + parkedNames(of: reference) {
            guard let seen = try look(name) else { continue }
            if case .name = reference.subject { return [seen] }
            if entry(of: seen.status)?.isMeant(by: reference) == true { found.append(seen) }
        }
        return found
    }
}
