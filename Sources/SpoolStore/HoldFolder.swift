package import JobFormat
import JournalModel
package import LinuxIO
package import PushModel

/// A file in `hold/`, and its `.rest` file, which records what is left of the job.
package struct ParkedFile: Hashable, Sendable {
    /// The file's name in `hold/`.
    package let name: FileName
    /// The name of the `.rest` file.
    package let rest: FileName?

    /// Creates a pair of names.
    package init(name: FileName, rest: FileName?) {
        (self.name, self.rest) = (name, rest)
    }
}

/// An app's `hold/`: moves of files to it and back to `new/`. Each file keeps its name, or gets the next number if that
/// is taken. Calls block.
package struct HoldFolder {
    private let directory: Directory
    private let new: Directory
    private let work: Directory
    private let archives: Archives
    /// The `.rest` files in it.
    package let remainders: RemainderFiles
    /// The node's lease, in a cluster. Set before the first use.
    var lease: NodeLease?

    init(_ directory: Directory, new: Directory, work: Directory, _ archives: Archives) {
        (self.directory, self.new, self.work, self.archives) = (directory, new, work, archives)
        remainders = RemainderFiles(in: directory, from: work)
    }

    /// Fails once the lease has run out: another node may send the job then, and must not find it here again.
    ///
    /// - Throws: `SystemError` (ESTALE).
    private func requireLease() throws(SystemError) {
        guard lease?.isValid ?? true else { throw .stale("rename", directory.path) }
    }

    // MARK: To hold/

    /// Moves a claimed job to `hold/` under its own name, or with the next number if that is taken; synced.
    ///
    /// - Returns: its name there.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func park(_ job: ClaimedJob) throws(SystemError) -> FileName {
        try secure(job)
        let name = try move(job.claim, from: work, as: job.name)
        try finishMove(of: job)
        return name
    }

    /// Moves a claimed job to `hold/` under its own name, or with the next number if that is taken; synced. Its `.rest`
    /// file is created and synced first.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - rest: The content of its `.rest` file, which records what is left of the job.
    /// - Returns: The names of both files.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved, and no `.rest` file was left.
    package func park(_ job: ClaimedJob, leaving rest: [UInt8]) throws(SystemError) -> ParkedFile {
        try secure(job)
        let parked = try park(job.claim, from: work, as: job.name, with: ResultDraft(of: job.id, rest))
        try finishMove(of: job)
        return parked
    }

    /// Makes the bytes of a small claimed job survive a power loss: its producer may not have synced them, and the journal,
    /// which has them, forgets the job after the move. A large one was synced before its claim.
    ///
    /// - Throws: `SystemError`: its bytes may be lost with the next power loss. That concerns only this file.
    private func secure(_ job: ClaimedJob) throws(SystemError) {
        guard job.status.byteCount <= Int64(JournalHeader.byteLimit) else { return }
        // It moves all the same if it is gone, or may not be opened any more, or no descriptor is left.
        guard let file = try? work.openForReading(job.entry.bytes) else { return }
        try file.syncDraft(.jobFile, as: "sync before a move")
    }

    /// Makes the move of a claimed job survive a power loss.
    private func finishMove(of job: ClaimedJob) throws(SystemError) {
        try work.unlink(WorkEntry.fullName(of: job.id))
        try directory.sync(.holdFolder)
        try work.sync(.holdSource)
        // The claim may not have been synced. After a power loss the job could be in `new/` too, without a journal entry.
        try new.sync(.holdSource)
    }

    /// Moves a waiting file from `new/` to `hold/`; synced.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - id: Names the staged `.rest` file until it is in place.
    ///   - rest: The content of the `.rest` file; `nil` if there already is one, under any name.
    /// - Returns: The names of both files; `nil` if the file is gone.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The file has not moved.
    package func park(waiting file: SeenFile, id: JobID, leaving rest: [UInt8]?) throws(SystemError) -> ParkedFile? {
        guard let (seized, source) = try seize(file, as: id) else { return nil }
        do {
            let parked =
                if let rest {
                    try park(seized, from: source, as: file.name, with: ResultDraft(of: id, rest))
                } else {
                    ParkedFile(name: try move(seized, from: source, as: file.name), rest: nil)
                }
            try directory.sync(.holdFolder)
            try new.sync(.holdSource)
            return parked
        } catch {
            if seized != file { _ = try publish(seized, from: source, as: file.name) }
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// In a cluster, takes a waiting file out of the others' reach, into our own folder: by a rename, which only one node
    /// can do. On a shared filesystem a move to `hold/` is a link and an unlink, and a claim may come in between.
    ///
    /// - Returns: The file to move, and its folder; `nil` if it is gone.
    private func seize(_ file: SeenFile, as id: JobID) throws(SystemError) -> (SeenFile, Directory)? {
        guard lease != nil else { return (file, new) }
        try requireLease()
        let entry = WorkEntry.entry(for: file.name, id: id).entry
        var failure: SystemError?
        do throws(SystemError) {
            try new.rename(file.name.bytes, to: work, replacing: entry)
        } catch {
            failure = error
        }
        // As with a claim, only the folder shows what has happened.
        if let status = try work.status(of: entry), let name = FileName(bytes: entry) {
            return (SeenFile(name: name, status: status), work)
        }
        if let failure, !failure.isNotFound { throw failure }
        return nil
    }

    /// Moves a file from `new/` to `hold/` under its own name, or with the next number if that is taken; synced.
    ///
    /// - Returns: its name there.
    /// - Throws: `SystemError`: ENOENT if it is gone; EIO, ENOSPC and others if it has not moved.
    package func park(unclaimed job: OpenJob) throws(SystemError) -> FileName {
        let name = try move(SeenFile(name: job.name, status: job.status), from: new, as: job.name)
        try directory.sync(.holdFolder)
        try new.sync(.holdSource)
        return name
    }

    /// Moves a file to `hold/` under the first of its numbered names that is free, and returns that name.
    private func move(
        _ file: SeenFile, from source: Directory, as wanted: FileName
    ) throws(SystemError) -> FileName {
        try archives.settle()
        var name = wanted
        var number = 1
        try requireLease()
        while try !file.move(from: source, to: directory, as: name) {
            number += 1
            name = wanted.numbered(number)
        }
        return name
    }

    /// Moves a file to `hold/` under the first of its numbered names that is free together with its `.rest` name.
    private func park(
        _ file: SeenFile, from source: Directory, as wanted: FileName, with draft: ResultDraft
    ) throws(SystemError) -> ParkedFile {
        try archives.settle()
        var number = 0
        while true {
            number += 1
            let name = wanted.numbered(number, toFit: FileName.byteLimitWithRest)
            guard let rest = name.rest, try directory.status(of: name.bytes) == nil else { continue }
            guard try remainders.publish(draft, as: rest) else { continue }
            do {
                try requireLease()
                if try file.move(from: source, to: directory, as: name) { return ParkedFile(name: name, rest: rest) }
            } catch {
                try remainders.remove(rest)
                throw error
            }
            try remainders.remove(rest)
        }
    }

    // MARK: Back to new/

    /// Moves a held file to `new/` under its own name, or with the next number if that is taken; synced. Its `.rest`
    /// file stays in `hold/`, where a claim reads it.
    ///
    /// - Returns: Its name in `new/`; `nil` if it is gone.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The file has not moved.
    package func release(_ file: SeenFile) throws(SystemError) -> FileName? {
        try archives.settle()
        return try publish(file, from: directory, as: file.name)
    }

    /// Moves a finished job from its archive to `new/`; synced. Its result file is removed.
    ///
    /// - Parameters:
    ///   - place: Its place in the archive.
    ///   - wanted: The name to give it; if that is taken, it gets the next number.
    ///   - rest: The content of its `.rest` file in `hold/`, which records what is left to send; `nil` to send all of it.
    /// - Returns: Its name in `new/` and the name of the `.rest` file; `nil` if the job is gone.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func takeOut(
        _ place: ArchivePlace, as wanted: FileName, leaving rest: [UInt8]?
    ) throws(SystemError) -> ParkedFile? {
        guard let day = try archives.openDayIfThere(place.archiveDay), let status = try day.status(of: place.name.bytes)
        else {
            return nil
        }
        try archives.settle()
        let restName: FileName? = if let rest { try remainders.add(rest, besides: wanted) } else { nil }
        do {
            let file = SeenFile(name: place.name, status: status)
            guard let name = try publish(file, from: day, as: wanted) else {
                if let restName { try remainders.remove(restName) }
                return nil
            }
            if let result = place.name.result { try day.unlink(result.bytes) }
            return ParkedFile(name: name, rest: restName)
        } catch {
            if let restName, try day.status(of: place.name.bytes) != nil { try remainders.remove(restName) }
            throw error
        }
    }

    /// Moves a claimed job, of which no notification was sent, back to `new/` under its own name, or with the next
    /// number if that is taken; synced.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - rest: The content of its `.rest` file in `hold/`, which records when the job was dropped.
    /// - Returns: Its name in `new/` and the name of the `.rest` file; `nil` if the job is gone.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func giveBack(_ job: ClaimedJob, leaving rest: [UInt8]) throws(SystemError) -> ParkedFile? {
        try secure(job)
        try archives.settle()
        let restName = try remainders.add(rest, besides: job.name)
        do {
            guard let name = try publish(job.claim, from: work, as: job.name) else {
                try remainders.remove(restName)
                return nil
            }
            try work.unlink(WorkEntry.fullName(of: job.id))
            return ParkedFile(name: name, rest: restName)
        } catch {
            if try work.status(of: job.entry.bytes) != nil { try remainders.remove(restName) }
            throw error
        }
    }

    /// Moves a file to `new/` under the first of its numbered names that is free; synced. Earlier moves must be settled.
    ///
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The file has not moved.
    private func publish(
        _ file: SeenFile, from source: Directory, as wanted: FileName
    ) throws(SystemError) -> FileName? {
        do {
            var number = 1
            try requireLease()
            while try !file.move(from: source, to: new, as: wanted.numbered(number)) { number += 1 }
            try new.sync()
            try source.sync()
            return wanted.numbered(number)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    // MARK: To failed/

    /// Makes departures from `hold/` survive a power loss.
    ///
    /// - Throws: `SystemError`; final, as for every failed sync.
    package func syncDepartures() throws(SystemError) {
        try archives.settle()
        try directory.sync(.holdSource)
    }

    // MARK: After a power loss

    /// Removes the names of files that are also in `new/` or `failed/`: a power loss amid a move may leave a file in both
    /// folders (btrfs). Such a move was not confirmed to anybody, and the file must not be sent from both.
    ///
    /// Costs a status call for each file in `hold/`; more only for files with several names.
    ///
    /// - Returns: The removed names.
    /// - Throws: `SystemError`: a folder cannot be read.
    package func finishMoves() throws(SystemError) -> [FileName] {
        var doubles: [UInt64: SeenFile] = [:]
        var listing = try directory.listing()
        while let entry = try listing.next() {
            guard let name = FileName(bytes: entry.name), let seen = try look(name), seen.status.linkCount > 1 else {
                continue
            }
            doubles[seen.status.inode] = seen
        }
        guard !doubles.isEmpty else { return [] }
        let released = try [new].names(of: Set(doubles.keys))
        var removed: [FileName] = []
        for (inode, double) in doubles {
            // The day of the archive was chosen before the move, perhaps before midnight.
            let day = (WallTime(nanoseconds: double.status.changedAt) + .seconds(-60)).day
            if released[inode] == nil {
                guard try archives.hasFailed(inode, since: day) else { continue }
            }
            try directory.unlink(double.name.bytes)
            removed.append(double.name)
        }
        return removed.sorted()
    }

    // MARK: Lookups

    /// Returns the current state of a file in `hold/`; `nil` if it does not exist or its name cannot be a job's.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func look(_ name: FileName) throws(SystemError) -> SeenFile? {
        guard name.isJob, let status = try directory.status(of: name.bytes) else { return nil }
        return SeenFile(name: name, status: status)
    }

    /// Returns those of the given inodes that are in `hold/`, `new/` or `work/`. Costs a listing of all three, and a
    /// status call for every file if an inode is not found.
    ///
    /// - Throws: `SystemError`: a folder cannot be read. Nothing is known about any of the inodes then.
    package func present(of inodes: Set<UInt64>) throws(SystemError) -> Set<UInt64> {
        Set(try [directory, work, new].names(of: inodes).keys)
    }

    /// Whether a file with this inode is in `hold/`. Costs a listing of it.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func contains(_ inode: UInt64) throws(SystemError) -> Bool {
        try !names(of: [inode]).isEmpty
    }

    /// Returns the names in `hold/` of the files with these inodes. Costs a listing, and a status call for every file
    /// if an inode is not found.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func names(of inodes: Set<UInt64>) throws(SystemError) -> [UInt64: Set<FileName>] {
        try [directory].names(of: inodes)
    }
}
