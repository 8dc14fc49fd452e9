package import APNSModel
package import LinuxIO
import SpoolModel

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
    ///   - time: its UTC day names the folder.
    ///   - result: the result file's bytes.
    /// - Returns: what came of it.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; call again later.
    package func refuse(
        _ sighting: SeenFile, id: JobID, at time: WallTime, result: [UInt8]
    ) throws(SystemError) -> Refusal {
        let place = try place(for: sighting.name, in: .failed, at: time, withResult: true)
        let day = try openDay(place.archiveDay)
        try stage(result, of: id, in: day)
        let refusal = try takeAway(sighting, to: day, at: place)
        if case .moved(let place) = refusal {
            try publishResult(of: id, in: day, beside: place.name)
            unsynced.insert(place.archiveDay)
        } else {
            try day.unlink(stagedName(of: id))
        }
        return refusal
    }

    private func takeAway(
        _ sighting: SeenFile, to day: Directory, at first: ArchivePlace
    ) throws(SystemError) -> Refusal {
        var place = first
        defer { reserved.remove(place) }
        do {
            while try !move(sighting, from: new, to: day, as: place.name) {
                reserved.remove(place)
                place = try freePlace(for: sighting.name, in: place.archiveDay, withResult: true)
            }
        } catch {
            if error.isNotFound { return .gone }
            guard error.isRefusal else { throw error }
            return .forbidden(error)
        }
        guard let status = try day.status(of: place.name.bytes) else { return .gone }
        guard isUnchanged(status, since: sighting.status) else {
            return .changed(try putBack(place.name, from: day, as: sighting.name))
        }
        return .moved(place)
    }
}
