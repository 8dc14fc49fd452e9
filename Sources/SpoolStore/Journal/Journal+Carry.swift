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

    /// Carries forward what must be; blocks for the file.
    ///
    /// - Returns: The jobs whose header cannot be read any more: move them to `hold/`, append CLEANED, and call again.
    /// - Throws: `JournalFault`: no room is left, or the journal is broken.
    @discardableResult
    package func carryForward() throws(JournalFault) -> [JobID] {
        var damaged: [JobID] = []
        for id in jobsToCarry {
            guard let header = try content(of: id) else {
                damaged.append(id)
                continue
            }
            try change { (book) throws(JournalFull) in try book.carry(id, header: header) }
        }
        wakeForRoom()
        return damaged
    }
}
