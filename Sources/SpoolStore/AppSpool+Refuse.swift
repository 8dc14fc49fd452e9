package import APNSModel
package import JobFormat
package import LinuxIO

/// The result of refusing a file in `new/`.
package enum Refusal: Hashable, Sendable {
    /// The file is in `failed/`, unchanged.
    case moved(ArchivePlace)
    /// The file has left `new/`.
    case gone
    /// The name belonged to another file by then. That file is back in `new/` under this name: look again.
    case changed(FileName)
    /// Permission denied (EPERM, EACCES, EROFS): leave the file, warn once, back off.
    case forbidden(SystemError)
}

extension AppSpool {
    /// Moves a file that can never be a job from `new/` to `failed/` without opening it, together with a result file.
    ///
    /// For special files, links, folders, unreadable files, and jobs that are refused before a claim. Not synced.
    ///
    /// - Parameters:
    ///   - sighting: the file, as it was seen.
    ///   - id: names the result until it is in place.
    ///   - place: the target, from `place(for:in:at:withResult:)`.
    ///   - result: the result file's bytes; a `ResultDraft` of them must be staged.
    /// - Returns: the outcome.
    /// - Throws: `SystemError`: for example ENOSPC or EIO. Call again later.
    package func refuse(
        _ sighting: SeenFile, id: JobID, to place: ArchivePlace, result: [UInt8]
    ) throws(SystemError) -> Refusal {
        do {
            let archiving = Archiving(
                id: id, name: sighting.name, file: sighting, source: new, result: result, isStaged: true)
            return try confirm(sighting, at: try archives.bring(archiving, to: place))
        } catch {
            if error.isNotFound { return .gone }
            guard error.isRefusal else { throw error }
            return .forbidden(error)
        }
    }

    /// Puts the file back into `new/` if it is not the one that was seen.
    private func confirm(_ sighting: SeenFile, at place: ArchivePlace) throws(SystemError) -> Refusal {
        let day = try archives.openDay(place.archiveDay)
        guard let status = try day.status(of: place.name.bytes) else { return .gone }
        if isUnchanged(status, since: sighting.status) { return .moved(place) }
        let name = try putBack(place.name, from: day, as: sighting.name)
        if let result = place.name.result { try day.unlink(result.bytes) }
        return .changed(name)
    }
}
