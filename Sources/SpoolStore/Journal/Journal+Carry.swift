package import JournalModel
import LinuxIO
package import PushModel
import Synchronization

extension Journal {
    /// Reads the header of a live job, with the bytes or checksums of its file, from the journal.
    ///
    /// - Returns: `nil` if the job does not exist or its header is damaged: move the job to `hold/`.
    /// - Throws: `JournalFault`: the journal cannot be read, or is broken.
    package func content(of id: JobID) throws(JournalFault) -> JournalHeader? {
        // Records must be in the file before they can be read back.
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

    /// The jobs to carry forward now, so that their region can be reused.
    package var jobsToCarry: [JobID] { state.withLock { $0.book.jobsToCarry } }

    /// Carries forward all jobs that must be. Blocks for the file.
    ///
    /// - Returns: The jobs whose header is unreadable: move them to `hold/`, append CLEANED, and call again.
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
