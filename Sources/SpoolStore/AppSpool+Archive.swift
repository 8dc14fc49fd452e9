package import APNSModel
package import LinuxIO
package import SpoolModel

extension AppSpool {
    /// Chooses where a job will be archived, before it is, so that its line and the journal can say so.
    ///
    /// The place is free now, and no other job gets it from this value. Costs O(log n) looks when n files have the name.
    ///
    /// - Throws: `SystemError`: the day's folder cannot be made or read.
    package func place(
        for name: FileName, in folder: ArchiveFolder, at time: WallTime, withResult: Bool
    ) throws(SystemError) -> ArchivePlace {
        try freePlace(for: name, in: ArchiveDay(folder: folder, day: time.day), withResult: withResult)
    }

    /// Keeps a place that the journal remembers from being given to another job.
    package func reserve(_ place: ArchivePlace) {
        reserved.insert(place)
    }

    /// Moves a claimed job to its place, and puts its result file beside it, if it has one.
    ///
    /// Nothing there is ever overwritten: when somebody took the place, the job gets the next number. The result is
    /// written and synced before the move and gets its name after it, so each is whole when seen. Calling it again after
    /// a crash does what is left. Not synced: `syncArchives()` after one or many.
    ///
    /// - Returns: where the job is now.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; the job is in one of the two places, and calling again later
    ///   goes on from there.
    package func archive(
        _ job: ClaimedJob, at place: ArchivePlace, result: [UInt8]?
    ) throws(SystemError) -> ArchivePlace {
        let day = try openDay(place.archiveDay)
        if let result { try stage(result, of: job.id, in: day) }
        var place = place
        while try !move(job.claim, from: work, to: day, as: place.name) {
            reserved.remove(place)
            place = try freePlace(for: job.name, in: place.archiveDay, withResult: result != nil)
        }
        if result != nil { try publishResult(of: job.id, in: day, beside: place.name) }
        try work.unlink(WorkEntry.fullName(of: job.id))
        reserved.remove(place)
        unsynced.insert(place.archiveDay)
        return place
    }

    /// Puts the result file beside a job that a crash left archived without it; does nothing when it is there.
    ///
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; call again later.
    package func completeArchive(of id: JobID, at place: ArchivePlace, result: [UInt8]) throws(SystemError) {
        let day = try openDay(place.archiveDay)
        guard let name = place.name.result, try day.status(of: name.bytes) == nil,
            try day.status(of: place.name.bytes) != nil
        else { return }
        try stage(result, of: id, in: day)
        try publishResult(of: id, in: day, beside: place.name)
        unsynced.insert(place.archiveDay)
    }

    /// Makes the moves to the archives so far survive a power loss: the day folders first, then what they came from.
    ///
    /// - Throws: `SystemError`; final, as all failed syncs.
    package func syncArchives() throws(SystemError) {
        guard !unsynced.isEmpty else { return }
        for day in unsynced { try openDay(day).sync() }
        try work.sync()
        try new.sync()
        unsynced = []
    }

    /// Parks a claimed job in `hold/` under its own name, or the next number when that is taken there; synced.
    ///
    /// - Returns: the name it has there.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; the job is where it was.
    package func hold(_ job: ClaimedJob) throws(SystemError) -> FileName {
        var name = job.name
        var number = 1
        while try !move(job.claim, from: work, to: held, as: name) {
            number += 1
            name = job.name.numbered(number)
        }
        try work.unlink(WorkEntry.fullName(of: job.id))
        try held.sync()
        try work.sync()
        return name
    }
}
