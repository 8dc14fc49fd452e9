package import JobFormat
package import LinuxIO
import PushModel

/// The `.rest` files in an app's `hold/`, each of which records what is left of one job. Calls block.
package struct RemainderFiles {
    /// `hold/`.
    private let directory: Directory
    /// `work/<node>/`, where they are staged.
    private let work: Directory

    init(in directory: Directory, from work: Directory) {
        (self.directory, self.work) = (directory, work)
    }

    /// Writes a `.rest` file under a name derived from a job's, or from the next number if that is taken; synced.
    ///
    /// - Parameters:
    ///   - rest: Its content.
    ///   - wanted: The name of the job, which is not in `hold/`.
    /// - Returns: The name of the `.rest` file.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. No `.rest` file was left.
    func add(_ rest: [UInt8], besides wanted: FileName) throws(SystemError) -> FileName {
        let draft = ResultDraft(of: JobID(bits: 0), rest)
        var number = 0
        while true {
            number += 1
            let name = wanted.numbered(number, toFit: FileName.byteLimitWithRest)
            // If a job with this name is in `hold/`, the `.rest` name belongs to that job.
            guard let restName = name.rest, try directory.status(of: name.bytes) == nil else { continue }
            if try publish(draft, as: restName) { return restName }
        }
    }

    /// Writes and syncs a `.rest` file and publishes it under this name. Returns `false` if the name is taken.
    func publish(_ draft: ResultDraft, as name: FileName) throws(SystemError) -> Bool {
        try draft.stage(in: work)
        do {
            try work.rename(WorkEntry.result(of: draft.id), to: directory, as: name.bytes)
        } catch {
            try work.unlink(WorkEntry.result(of: draft.id))
            guard error.isAlreadyThere else { throw error }
            return false
        }
        try directory.sync(.holdFolder)
        return true
    }

    /// Removes a `.rest` file whose job has not moved.
    func remove(_ name: FileName) throws(SystemError) { try directory.unlink(name.bytes) }

    /// Returns their names.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    package func names() throws(SystemError) -> [FileName] {
        var names: [FileName] = []
        var listing = try directory.listing()
        while let entry = try listing.next() {
            if let name = FileName(bytes: entry.name), name.isRest { names.append(name) }
        }
        return names
    }
}
