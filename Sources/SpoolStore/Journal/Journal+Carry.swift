package import APNSModel
import LinuxIO
package import SpoolModel
import Synchronization

extension Journal {
    /// The header of a live job with the bytes or checksums of its file, read from the journal.
    ///
    /// - Returns: `nil` when there is no such job, or its header is damaged: the job is to go to `hold/`.
    /// - Throws: `JournalFault`: the journal cannot be read, or is broken.
    package func content(of id: JobID) throws(JournalFault) -> JournalHeader? {
        // What is read must have got there.
        try write()
        let place = state.withLock { state in
            state.book.job(id).flatMap { job in state.book.fileOffset(of: job.position).map { (job, $0) } }
        }
        guard let (job, offset) = place else { return nil }
        var bytes: [UInt8] = []
        do throws(SystemError) {
            _ = try file.read(job.headerByteCount, at: offset, appendingTo: &bytes)
        } catch {
            throw .broken(error)
        }
        return JournalReplay.header(of: job, in: bytes)
    }

    /// The jobs that must be carried forward now, so that their region can be used again.
    package var jobsToCarry: [JobID] { state.withLock { $0.book.jobsToCarry } }

    /// Carries forward what must be, and can be: jobs whose feedback lines are all out.
    ///
    /// - Returns: the jobs that could not be carried: see to them, and call again.
    /// - Throws: `JournalFault`: no room is left, or the journal is broken.
    package func carryForward() throws(JournalFault) -> CarryObstacles {
        var obstacles = CarryObstacles()
        for id in jobsToCarry {
            guard let header = try content(of: id) else {
                obstacles.damaged.append(id)
                continue
            }
            do throws(JournalFault) {
                try change { (book) throws(JournalFull) in try book.carry(id, header: header) }
            } catch .full(.untold(let id)) {
                obstacles.untold.append(id)
            }
        }
        return obstacles
    }
}

/// Jobs that stand in the way of the journal's next region.
package struct CarryObstacles: Hashable, Sendable {
    /// Jobs whose feedback lines must be out first: publish them, and append PUBLISHED.
    package var untold: [JobID] = []
    /// Jobs whose header cannot be read any more: move them to `hold/`, and append CLEANED.
    package var damaged: [JobID] = []

    /// None yet.
    package init() {}

    /// Whether there are none.
    package var isEmpty: Bool { untold.isEmpty && damaged.isEmpty }
}
