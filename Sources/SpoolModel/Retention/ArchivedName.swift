/// What a file in a day's folder is, by its name.
package enum ArchivedName: Hashable, Sendable {
    /// A job.
    case job(FileName)
    /// The result that stands beside a job of this name.
    case result(of: FileName)

    /// Takes a name as the kernel gave it.
    ///
    /// - Returns: `nil` for a file that the daemon has not put there.
    package init?(_ bytes: [UInt8]) {
        guard let name = FileName(bytes: bytes) else { return nil }
        if name.isJob {
            self = .job(name)
        } else if let job = name.jobOfResult, job.isJob {
            self = .result(of: job)
        } else {
            return nil
        }
    }

    /// The job that it is, or belongs to.
    package var job: FileName {
        switch self {
        case .job(let name), .result(of: let name): name
        }
    }
}
