package import JobFormat
package import LinuxIO
package import PushModel
package import SpoolModel

/// A file of which nothing more is sent, on its way to `failed/`: its line is published first, then it moves.
///
/// Claimed jobs are not among them.
package struct Departure {
    /// The folder that a file leaves.
    package enum Origin: Hashable, Sendable {
        /// `new/`: the file was refused before a claim. It may be anything: a special file, a link, a folder.
        case new
        /// `hold/`: an operator ended the job.
        case hold
    }

    /// The file, as it was seen.
    package let file: SeenFile
    /// The folder that it leaves.
    package let origin: Origin
    /// Its `job` line.
    package let report: JobReport
    /// Its place in the archive, from `place(for:in:at:withResult:)`.
    package let place: ArchivePlace
    /// The content of its result file.
    package let result: [UInt8]
    /// Its line for producers, of `EndedJob`.
    package let notice: [UInt8]
    /// How many of its notifications get their outcome now.
    package var endedCount = 0

    /// Creates a departure with the result that is put next to the file.
    package init(of file: SeenFile, from origin: Origin, to place: ArchivePlace, _ result: ResultFile) {
        (self.file, self.origin, self.place) = (file, origin, place)
        (self.result, report) = (result.bytes, result.report)
        notice = EndedJob.line(report, result, inode: file.status.inode)
    }

    /// The id that identifies it in feedback, and its result until that is in place.
    package var id: JobID { report.identity.id }

    /// Its result file, which must be staged before it moves.
    package var draft: ResultDraft { ResultDraft(of: id, result) }
}

/// What became of a file that was to leave.
package enum DepartureOutcome: Hashable, Sendable {
    /// The file is in `failed/`, unchanged.
    case moved(ArchivePlace)
    /// The file was gone from its folder.
    case gone
    /// The name in `new/` belonged to another file by then. That file is back in `new/` under this name: look again.
    case changed(FileName)
    /// Permission denied (EPERM, EACCES, EROFS): leave the file, warn once, back off.
    case forbidden(SystemError)
}

extension AppSpool {
    /// Moves a file to `failed/` without opening it, together with its staged result file. Not synced.
    ///
    /// - Parameter departure: The file. Its line is published, and its draft staged.
    /// - Returns: What became of it.
    /// - Throws: `SystemError`: for example ENOSPC or EIO. Call again later.
    package func move(_ departure: Departure) throws(SystemError) -> DepartureOutcome {
        do {
            let archiving = Archiving(
                name: departure.file.name, file: departure.file,
                source: departure.origin == .new ? new : holdDirectory, work: work, draft: departure.draft,
                isStaged: true)
            let place = try archives.bring(archiving, to: departure.place)
            return departure.origin == .new ? try confirm(departure.file, at: place) : .moved(place)
        } catch {
            if error.isNotFound { return .gone }
            guard error.isRefusal else { throw error }
            return .forbidden(error)
        }
    }

    /// Puts the file back into `new/` if it is not the one that was seen.
    private func confirm(_ sighting: SeenFile, at place: ArchivePlace) throws(SystemError) -> DepartureOutcome {
        let day = try archives.openDay(place.archiveDay)
        guard let status = try day.status(of: place.name.bytes) else { return .gone }
        if isUnchanged(status, since: sighting.status) { return .moved(place) }
        let name = try putBack(place.name, from: day, as: sighting.name)
        if let result = place.name.result { try day.unlink(result.bytes) }
        return .changed(name)
    }
}
