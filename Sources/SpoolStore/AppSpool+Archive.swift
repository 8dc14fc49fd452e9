package import APNSModel
package import LinuxIO
package import SpoolModel

extension AppSpool {
    /// Chooses the archive place of a job in advance, so that its result line and the journal can name it.
    ///
    /// The place is free now, and this object gives it to no other job. Costs O(log n) lookups if n files have the name.
    ///
    /// - Throws: `SystemError`: the day's folder cannot be created or read.
    package func place(
        for name: FileName, in folder: ArchiveFolder, at time: WallTime, withResult: Bool
    ) throws(SystemError) -> ArchivePlace {
        try freePlace(for: name, in: ArchiveDay(folder: folder, day: time.day), withResult: withResult)
    }

    /// Reserves a place recorded in the journal, so that no other job gets it.
    package func reserve(_ place: ArchivePlace) {
        reserved.insert(place)
    }

    /// Moves a claimed job to its place, next to its result file if it has one.
    ///
    /// Never overwrites a file: if the place is taken, the job gets the next number. The result is complete and synced
    /// before the job appears, so a reader that finds a job without a result need not wait for one. Calling it again
    /// after a crash completes the move. Not synced: call `syncArchives()` after one or more moves.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - place: The target, from `place(for:in:at:withResult:)`.
    ///   - result: The bytes of its result file; `nil` if it has none.
    ///   - isStaged: Whether a `ResultDraft` of them is already staged; if not, it is staged now.
    /// - Returns: the job's final place.
    /// - Throws: `SystemError`: for example ENOSPC or EIO. The job is in one of the two places; a later call continues
    ///   from there.
    package func archive(
        _ job: ClaimedJob, at place: ArchivePlace, result: [UInt8]?, isStaged: Bool = false
    ) throws(SystemError) -> ArchivePlace {
        let archiving = Archiving(
            id: job.id, name: job.name, file: job.claim, source: work, result: result, isStaged: isStaged)
        let final = try bring(archiving, to: place)
        if !job.hasWholeName { try work.unlink(WorkEntry.fullName(of: job.id)) }
        return final
    }

    /// Keeps day folders open while `body` places or archives many jobs, instead of opening one for each job.
    package func keepingDaysOpen<Value>(_ body: () -> Value) -> Value {
        openDays = [:]
        defer { openDays = nil }
        return body()
    }

    /// Makes the moves to the archives so far survive a power loss. Syncs the day folders before the source folders.
    ///
    /// - Throws: `SystemError`; final, as for every failed sync.
    package func syncArchives() throws(SystemError) {
        for move in try takeUnsyncedMoves() { try move.folder.sync(move.site) }
    }

    /// Returns the folders to sync, in this order, so that all moves to the archives so far survive a power loss. The
    /// next call returns only later moves.
    ///
    /// - Throws: `SystemError`: a day's folder cannot be opened.
    package func takeUnsyncedMoves() throws(SystemError) -> [(folder: Directory, site: SyncSite)] {
        guard !unsynced.isEmpty else { return [] }
        var moves: [(folder: Directory, site: SyncSite)] = []
        for day in unsynced { moves.append((try openDay(day), .archives)) }
        unsynced = []
        return moves + [(work, .archiveSource), (new, .archiveSource)]
    }

    /// Moves a claimed job to `hold/` under its own name, or with the next number if that is taken; synced.
    ///
    /// - Returns: its name there.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func hold(_ job: ClaimedJob) throws(SystemError) -> FileName {
        let name = try moveToHold(job.claim, from: work, as: job.name)
        try work.unlink(WorkEntry.fullName(of: job.id))
        try held.sync(.holdFolder)
        try work.sync(.holdSource)
        // The claim was not synced. After a power loss the job could be in `new/` too, without a journal entry.
        try new.sync(.holdSource)
        return name
    }

    /// Moves a file from `new/` to `hold/` under its own name, or with the next number if that is taken; synced.
    ///
    /// - Returns: its name there.
    /// - Throws: `SystemError`: ENOENT if it is gone; EIO, ENOSPC and others if it has not moved.
    package func holdUnclaimed(_ job: OpenJob) throws(SystemError) -> FileName {
        let name = try moveToHold(SeenFile(name: job.name, status: job.status), from: new, as: job.name)
        try held.sync(.holdFolder)
        try new.sync(.holdSource)
        return name
    }

    /// Moves a file to `hold/` under the first of its numbered names that is free, and returns that name.
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
