package import APNSModel
package import LinuxIO
import SpoolModel

/// A file on its way to an archive or to `hold/`.
struct Archiving {
    /// The id of its job.
    let id: JobID
    /// The name from which its place is derived.
    let name: FileName
    /// The file as it was seen.
    let file: SeenFile
    /// The folder it is in.
    let source: Directory
    /// The bytes of the result file to put next to it; `nil` for none.
    let result: [UInt8]?
    /// Whether the result has been staged.
    var isStaged = false
}

/// A job's result file that is not at its final place yet.
package struct ResultDraft: Sendable {
    /// The id of its job.
    package let id: JobID
    /// The file's content.
    package let bytes: [UInt8]

    /// Creates a draft.
    package init(of id: JobID, _ bytes: [UInt8]) {
        (self.id, self.bytes) = (id, bytes)
    }

    /// Writes and syncs the draft in `work/<node>/`, which no other program reads and where every start cleans up.
    /// Blocks for the disk.
    ///
    /// - Throws: `SystemError`: for example ENOSPC or EIO. Call again later.
    package func stage(in work: Directory) throws(SystemError) {
        // Left by an earlier attempt.
        try work.unlink(WorkEntry.result(of: id))
        let file = try work.create(WorkEntry.result(of: id), mode: 0o640)
        try file.write(bytes)
        try file.sync(.resultFile)
        try file.closeNow()
    }
}

extension AppSpool {
    /// Moves a file and, before it, its result file to a place in an archive, or to the next number if the place is taken.
    ///
    /// A crash between the two moves leaves a result file without its job. A note in `work/` records the place, and the
    /// next start removes both (`dropUnfinished`).
    func bring(_ archiving: Archiving, to first: ArchivePlace) throws(SystemError) -> ArchivePlace {
        let day = try openDay(first.archiveDay)
        var (archiving, place) = (archiving, first)
        defer { reserved.remove(place) }
        while try !move(archiving, to: day, as: place) {
            archiving.isStaged = false
            reserved.remove(place)
            place = try freePlace(for: archiving.name, in: place.archiveDay, withResult: archiving.result != nil)
        }
        if archiving.result != nil { try work.unlink(WorkEntry.place(of: archiving.id)) }
        unsynced.insert(place.archiveDay)
        return place
    }

    /// Returns `false` if the place is taken. In that case, and after an error, nothing of ours is left there.
    private func move(_ archiving: Archiving, to day: Directory, as place: ArchivePlace) throws(SystemError) -> Bool {
        guard let bytes = archiving.result, let resultName = place.name.result else {
            return try move(archiving.file, from: archiving.source, to: day, as: place.name)
        }
        try note(place, of: archiving.id)
        if !archiving.isStaged { try ResultDraft(of: archiving.id, bytes).stage(in: work) }
        guard try publishResult(of: archiving, in: day, as: resultName, beside: place.name) else { return false }
        do {
            if try move(archiving.file, from: archiving.source, to: day, as: place.name) { return true }
        } catch {
            if try day.status(of: place.name.bytes) == nil { try day.unlink(resultName.bytes) }
            try work.unlink(WorkEntry.place(of: archiving.id))
            throw error
        }
        try day.unlink(resultName.bytes)
        return false
    }

    /// Renames a staged result to its final name. Returns `false` if another job's file has that name. After a crash this
    /// job's own result is already there: next to the job, or without a job but with the same bytes, which identify the job.
    private func publishResult(
        of archiving: Archiving, in day: Directory, as resultName: FileName, beside name: FileName
    ) throws(SystemError) -> Bool {
        let staged = WorkEntry.result(of: archiving.id)
        do {
            try work.rename(staged, to: day, as: resultName.bytes)
            return true
        } catch {
            guard error.isAlreadyThere else { throw error }
            try work.unlink(staged)
            guard let there = try day.status(of: name.bytes) else {
                let bytes = archiving.result ?? []
                return try day.contents(of: resultName.bytes, limit: bytes.count) == bytes
            }
            return there.isSameFile(as: archiving.file.status)
        }
    }

    // MARK: Notes of moves under way

    /// Not synced: a result file that a power loss leaves without its job is recognized by its bytes.
    private func note(_ place: ArchivePlace, of id: JobID) throws(SystemError) {
        try work.unlink(WorkEntry.place(of: id))
        let file = try work.create(WorkEntry.place(of: id), mode: 0o600)
        try file.write(Array("\(place.folder.rawValue)/\(place.day)/".utf8) + place.name.bytes)
        try file.closeNow()
    }

    /// Removes the result file that an interrupted move left without its job, and the note of the move.
    func dropUnfinished(_ id: JobID) throws(SystemError) {
        if let note = try work.contents(of: WorkEntry.place(of: id), limit: 2 * FileName.byteLimit),
            let place = ArchivePlace(note: note), let day = try openDayIfThere(place.archiveDay)
        {
            if let resultName = place.name.result, try day.status(of: place.name.bytes) == nil {
                try day.unlink(resultName.bytes)
            }
        }
        try work.unlink(WorkEntry.place(of: id))
    }

    func openDayIfThere(_ day: ArchiveDay) throws(SystemError) -> Directory? {
        do {
            return try archive(day.folder).openChild(Array(day.day.utf8))
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }
}

extension ArchivePlace {
    /// Parses the content that `note` wrote.
    fileprivate init?(note: [UInt8]) {
        let parts = note.split(separator: 0x2F, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let folder = ArchiveFolder(rawValue: String(decoding: parts[0], as: UTF8.self)),
            let day = FileName(bytes: Array(parts[1])), let name = FileName(bytes: Array(parts[2]))
        else { return nil }
        self.init(folder: folder, day: String(decoding: day.bytes, as: UTF8.self), name: name)
    }
}
