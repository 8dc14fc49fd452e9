package import LinuxIO

/// A job that is being written, which the daemon does not see before it is published.
///
/// Releasing it removes what was written, unless it was published. Calls block.
package final class StagedJob {
    /// The name under which it will be published.
    package let name: String
    private let folder: Directory
    private let stagedName: [UInt8]
    private let new: Directory
    private let place: AppPlace
    private var file: OpenFile?
    private var isPublished = false

    init(
        _ name: String, in folder: Directory, as stagedName: [UInt8], for target: (new: Directory, place: AppPlace)
    ) throws(SystemError) {
        (self.name, self.folder, self.stagedName) = (name, folder, stagedName)
        (new, place) = target
        file = try folder.create(stagedName, mode: 0o644)
    }

    deinit {
        // The daemon ignores files that stay in tmp/.
        if !isPublished { _ = try? folder.unlink(stagedName) }
    }

    /// Writes the next bytes.
    ///
    /// - Throws: `SpoolClientError`; release the job.
    package func append(_ bytes: [UInt8]) throws(SpoolClientError) {
        try translating { () throws(SystemError) in try file?.write(bytes) }
    }

    /// Opens the file for reading what was written.
    ///
    /// - Throws: `SpoolClientError`; release the job.
    package func openForReading() throws(SpoolClientError) -> OpenFile {
        try translating { () throws(SystemError) in try folder.openRegular(stagedName) }
    }

    /// Publishes the job: once this returns, it survives a power loss. Must be the last call.
    ///
    /// - Returns: The name.
    /// - Throws: `SpoolClientError`. Nothing was dropped, unless the hint says to look for the job.
    package func publish() throws(SpoolClientError) -> String {
        try translating { () throws(SystemError) in
            // On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
            try file?.backdate()
            try file?.sync(.submission)
            // The daemon would not regard a file that is still open for writing as complete.
            try file.take()?.closeNow()
            try folder.rename(stagedName, to: new, as: Array(name.utf8))
        }
        isPublished = true
        do throws(SystemError) {
            try new.sync(.submissionFolder)
            // Last, so that a job that is acknowledged was durable in the folder that has the path.
            guard try place.leads(to: new, as: "new") else { throw .stale("rename", "\(new.path)/\(name)") }
        } catch {
            try withdraw(after: error)
        }
        return name
    }

    /// Moves the file to `new/`, as `publish()` would, and removes it there. Must be the last call.
    ///
    /// - Throws: `SpoolClientError`: publishing would fail, too.
    func rehearse() throws(SpoolClientError) {
        try translating { () throws(SystemError) in
            try file.take()?.closeNow()
            try folder.rename(stagedName, to: new, as: Array(name.utf8))
            isPublished = true
            try new.unlink(Array(name.utf8))
            guard try place.leads(to: new, as: "new") else { throw .stale("rename", "\(new.path)/\(name)") }
        }
    }

    /// Removes the job again after a failure, so that nothing was dropped. If the daemon claimed it in the meantime, the job
    /// is safe in the daemon's journal, and must not be dropped once more.
    private func withdraw(after failure: SystemError) throws(SpoolClientError) {
        do throws(SystemError) {
            guard try new.unlink(Array(name.utf8)) else {
                // A daemon claims from a folder that was moved, too; but who removes the folder removes the job with it.
                if try new.status().linkCount > 0 { return }
                throw failure
            }
            // Otherwise a power loss could bring the job back, and the folder may be moved back, too.
            if !failure.isFailedSync { try new.sync(.submissionFolder) }
        } catch {
            throw SpoolClientError(
                "\(failure), and it is unknown whether '\(name)' was dropped: \(error)",
                hint: "check new/ for it before you submit it again", mayBeDropped: true)
        }
        throw SpoolClientError(failure)
    }
}
