import JobFormat
import LinuxIO
import PushModel

/// The move of one file, and its result file, to an archive.
///
/// The result file gets its place first, so that a reader that finds a job without one need not wait for it. A crash
/// between the two steps leaves a result file without its job. A note in `work/` records the place, and the next start
/// removes both.
struct Archiving {
    /// The name from which its place is derived.
    let name: FileName
    /// The file as it was seen.
    let file: SeenFile
    /// The folder it is in.
    let source: Directory
    /// `work/<node>/`, where its result is staged and its place noted.
    let work: Directory
    /// The result file to put next to it; `nil` for none.
    let draft: ResultDraft?
    /// Whether the draft is staged; if not, `move` stages it.
    var isStaged = false

    /// Moves the file and, before it, its result file. Not synced.
    ///
    /// Returns `false` if the place is taken. In that case, and after an error, nothing of ours is left there.
    mutating func move(to day: Directory, as place: ArchivePlace) throws(SystemError) -> Bool {
        guard let draft, let resultName = place.name.result else {
            return try file.move(from: source, to: day, as: place.name)
        }
        try note(place, of: draft.id)
        if !isStaged { try draft.stage(in: work) }
        isStaged = false
        guard try publish(draft, in: day, as: resultName, beside: place.name) else { return false }
        do {
            if try file.move(from: source, to: day, as: place.name) { return true }
        } catch {
            if try day.status(of: place.name.bytes) == nil { try day.unlink(resultName.bytes) }
            try removeNote()
            throw error
        }
        try day.unlink(resultName.bytes)
        return false
    }

    /// Renames the staged result to its final name. Returns `false` if another job's file has that name. After a crash this
    /// job's own result is already there: next to the job, or without a job but with the same bytes, which identify the job.
    private func publish(
        _ draft: ResultDraft, in day: Directory, as resultName: FileName, beside name: FileName
    ) throws(SystemError) -> Bool {
        let staged = WorkEntry.result(of: draft.id)
        do {
            try work.rename(staged, to: day, as: resultName.bytes)
            return true
        } catch {
            guard error.isAlreadyThere else { throw error }
            try work.unlink(staged)
            guard let there = try day.status(of: name.bytes) else {
                return try day.contents(of: resultName.bytes, limit: draft.bytes.count) == draft.bytes
            }
            return there.isSameFile(as: file.status)
        }
    }

    // MARK: The note

    /// Not synced: a result file that a power loss leaves without its job is recognized by its bytes.
    private func note(_ place: ArchivePlace, of id: JobID) throws(SystemError) {
        try work.unlink(WorkEntry.place(of: id))
        let file = try work.create(WorkEntry.place(of: id), mode: 0o600)
        try file.write(Array("\(place.folder.rawValue)/\(place.day)/".utf8) + place.name.bytes)
        try file.closeNow()
    }

    /// Removes the note after the move.
    func removeNote() throws(SystemError) {
        if let draft { try work.unlink(WorkEntry.place(of: draft.id)) }
    }

    /// Returns the place that an interrupted move noted; `nil` if there is no note, or an incomplete one.
    static func notedPlace(of id: JobID, in work: Directory) throws(SystemError) -> ArchivePlace? {
        let note = try work.contents(of: WorkEntry.place(of: id), limit: 2 * FileName.byteLimit)
        return note.flatMap { ArchivePlace(note: $0) }
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
