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

    /// Moves a claimed job to its place, beside its result file, if it has one.
    ///
    /// Nothing there is ever overwritten: when somebody took the place, the job gets the next number. The result is
    /// there, whole and synced, before the job is: who sees a job in an archive without one need not wait for it.
    /// Calling it again after a crash does what is left. Not synced: `syncArchives()` after one or many.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - place: Where to, from `place(for:in:at:withResult:)`.
    ///   - result: The bytes of its result file; `nil`: it has none.
    ///   - isStaged: Whether a `ResultDraft` of them was staged; else that is done now.
    /// - Returns: where the job is now.
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; the job is in one of the two places, and calling again later
    ///   goes on from there.
    package func archive(
        _ job: ClaimedJob, at place: ArchivePlace, result: [UInt8]?, isStaged: Bool = false
    ) throws(SystemError) -> ArchivePlace {
        let archiving = Archiving(
            id: job.id, name: job.name, file: job.claim, source: work, result: result, isStaged: isStaged)
        let final = try bring(archiving, to: place)
        if !job.hasWholeName { try work.unlink(WorkEntry.fullName(of: job.id)) }
        return final
    }

    /// Keeps the folders of days open while `body` places or archives many jobs, instead of opening one for each.
    package func keepingDaysOpen<Value>(_ body: () -> Value) -> Value {
        openDays = [:]
        defer { openDays = nil }
        return body()
    }

    /// Makes the moves to the archives so far survive a power loss: the day folders first, then what they came from.
    ///
    /// - Throws: `SystemError`; final, as all failed syncs.
    package func syncArchives() throws(SystemError) {
        for move in try takeUnsyncedMoves() { try move.folder.sync(move.site) }
    }

    /// What is to be synced, in this order, so that the moves to the archives so far survive a power loss; a second call has what
    /// was moved since this one.
    ///
    /// - Throws: `SystemError`: a day's folder cannot be opened.
    package func takeUnsyncedMoves() throws(SystemError) -> [(folder: Directory, site: SyncSite)] {
        guard !unsynced.isEmpty else { return [] }
        var moves: [(folder: Directory, site: SyncSite)] = []
        for day in unsynced { moves.append((try openDay(day), .archives)) }
        unsynced = []
        return moves + [(work, .archiveSource), (new, .archiveSource)]
    }

    /// Parks a claimed job in `hold/` under its own name, or the next number when that is taken there; synced.
    ///
    /// - Returns: the name it has there.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; the job is where it was.
    package func hold(_ job: ClaimedJob) throws(SystemError) -> FileName {
        let name = try moveToHold(job.claim, from: work, as: job.name)
        try work.unlink(WorkEntry.fullName(of: job.id))
        try held.sync(.holdFolder)
        try work.sync(.holdSource)
        // The claim was not synced: the job would be in `new/` as well, and the journal knows nothing of it any more.
        try new.sync(.holdSource)
        return name
    }

    /// Parks a file of `new/` in `hold/` under its own name, or the next number when that is taken there; synced.
    ///
    /// - Returns: the name it has there.
    /// - Throws: `SystemError`: ENOENT when it is gone; EIO, ENOSPC and the like: it is where it was.
    package func holdUnclaimed(_ job: OpenJob) throws(SystemError) -> FileName {
        let name = try moveToHold(SeenFile(name: job.name, status: job.status), from: new, as: job.name)
        try held.sync(.holdFolder)
        try new.sync(.holdSource)
        return name
    }

    /// Moves a file to `hold/` by the first of its names that is free there, and returns that.
    func moveToHold(
        _ file: SeenFile, from source: Directory, as wanted: FileName
    ) throws(SystemError) -> FileName {
        var name = wanted
        var number = 1
        while try !move(file, from: source, to: held, as: name) {
            number += 1
            name = wanted.numbered(number)
        }
        return name
    }
}
