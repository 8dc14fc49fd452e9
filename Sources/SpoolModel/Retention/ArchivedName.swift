package import JobFormat

/// The type of a file in a day's folder, according to its name.
package enum ArchivedName: Hashable, Sendable {
    /// A job.
    case job(FileName)
    /// The result file of a job with this name.
    case result(of: FileName)

    /// Takes a name as the kernel returned it.
    ///
    /// - Returns: `nil` for a file that the daemon does not create there.
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

    /// The name of the job that the file is, or belongs to.
    package var job: FileName {
        switch self {
        case .job(let name), .result(of: let name): name
        }
    }
}
