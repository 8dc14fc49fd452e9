package import APNSModel
package import LinuxIO
package import SpoolModel

/// What came of refusing a file in `new/`.
package enum Refusal: Hashable, Sendable {
    /// It is in `failed/`, as it was.
    case moved(ArchivePlace)
    /// It is no longer in `new/`.
    case gone
    /// It was another file by then, and is back in `new/` under this name: look again.
    case changed(FileName)
    /// We may not move it (EPERM, EACCES, EROFS): leave it, warn once, back off.
    case forbidden(SystemError)
}

extension AppSpool {
    /// Moves what can never be a job from `new/` to `failed/` as it is, without opening it, with a result file beside.
    ///
    /// For special files, links, folders, what we may not read, and jobs that are refused before a claim. Not synced:
    /// `syncArchives()`.
    ///
    /// - Parameters:
    ///   - sighting: what is to go, as it was seen.
    ///   - id: names the result until it is in place.
    ///   - place: where to, from `place(for:in:at:withResult:)`.
    ///   - result: the result file's bytes, of which a `ResultDraft` was staged.
    /// - Returns: what came of it.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; call again later.
    package func refuse(
        _ sighting: SeenFile, id: JobID, to place: ArchivePlace, result: [UInt8]
    ) throws(SystemError) -> Refusal {
        do {
            let archiving = Archiving(
                id: id, name: sighting.name, file: sighting, source: new, result: result, isStaged: true)
            return try confirm(sighting, at: try bring(archiving, to: place))
        } catch {
            if error.isNotFound { return .gone }
            guard error.isRefusal else { throw error }
            return .forbidden(error)
        }
    }

    /// Moves a parked file that is not to be sent any more from `hold/` to `failed/`, with a result file beside; synced.
    ///
    /// - Parameters:
    ///   - file: The file in `hold/`.
    ///   - id: Names the result until it is in place.
    ///   - place: Where to, from `place(for:in:at:withResult:)`.
    ///   - result: The result file's bytes.
    /// - Returns: Where it is now; `nil` when it is gone.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; call again later.
    package func withdraw(
        _ file: SeenFile, id: JobID, to place: ArchivePlace, result: [UInt8]
    ) throws(SystemError) -> ArchivePlace? {
        do {
            let archiving = Archiving(id: id, name: file.name, file: file, source: held, result: result)
            let final = try bring(archiving, to: place)
            try syncArchives()
            try held.sync(.holdSource)
            return final
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Gives back what is not what was seen.
    private func confirm(_ sighting: SeenFile, at place: ArchivePlace) throws(SystemError) -> Refusal {
        let day = try openDay(place.archiveDay)
        guard let status = try day.status(of: place.name.bytes) else { return .gone }
        if isUnchanged(status, since: sighting.status) { return .moved(place) }
        let name = try putBack(place.name, from: day, as: sighting.name)
        if let result = place.name.result { try day.unlink(result.bytes) }
        return .changed(name)
    }
}
