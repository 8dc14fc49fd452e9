import Document
import JSON
package import JobFormat
package import LinuxIO
package import Logging
package import PushModel
import ServiceProcess
package import SpoolModel
package import SpoolStore

/// Tracks the held and retried files of an app, with their remainders: the `.rest` files in `hold/`.
///
/// A remainder belongs to a file by inode, length and modification time, regardless of the file's place and name. Calls
/// block. Use it only where the app's spool is used.
package final class HeldJobs {
    let spool: AppSpool
    private let logger: Logger
    /// The entries by inode.
    private var entries: [UInt64: HeldEntry] = [:]
    /// The entries, by name, of missing files whose inode another held file has now.
    private var displaced: [FileName: HeldEntry] = [:]
    /// The remainders that cannot be read; `nil`: `hold/` could not be listed.
    private var unreadable: Set<FileName>? = []
    /// The state of `hold/` when it was listed last, and those of the remainders that were read then, in a cluster.
    private var listed: (folder: FileStatus, remainders: [FileName: FileStatus])?

    /// Creates an empty object; `load` fills it.
    package init(_ spool: AppSpool, _ logger: Logger) { (self.spool, self.logger) = (spool, logger) }

    // MARK: Start

    /// Reads the remainders in `hold/`.
    package func load() {
        unreadable = nil
        do throws(SystemError) {
            let names = try spool.hold.remainders.names()
            unreadable = []
            names.forEach(load)
        } catch {
            let hint: Logger.MetadataValue = "fix the cause, then restart; a job moved out by hand is sent whole"
            logger.error("hold/ cannot be read", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
    }

    /// In a cluster, reads what other nodes have held, released or retried since. Asks the file server once if nobody has.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    package func refresh() throws(SystemError) {
        guard spool.isClustered else { return }
        // A network filesystem asks its server when a folder is opened, not when its status is.
        let status = try spool.home.openChild(Array("hold".utf8)).status()
        guard status != listed?.folder else { return }
        var found: [FileName: FileStatus] = [:]
        for name in try spool.hold.remainders.names() { found[name] = try spool.holdDirectory.status(of: name.bytes) }
        // A name may have come back with another remainder.
        let same = found.filter { listed?.remainders[$0.key] == $0.value }
        entries = entries.filter { same[$0.value.name] != nil }
        displaced = displaced.filter { same[$0.key] != nil }
        unreadable = (unreadable ?? []).filter { same[$0] != nil }
        for name in found.keys where same[name] == nil { load(name) }
        listed = (status, found)
    }

    private func load(_ name: FileName) {
        do throws(SystemError) {
            guard let remainder = try read(name) else {
                return noteUnreadable(name, "damaged, or from another version")
            }
            let entry = HeldEntry(remainder, as: name)
            add(entry, at: try inode(of: remainder, name))
            // A crash may have interrupted the last step of taking the job out of its archive.
            if let origin = entry.origin { try spool.archives.dropLoneResult(of: origin) }
        } catch {
            noteUnreadable(name, "\(error)")
        }
    }

    /// Adds an entry, whose file has this inode now, or is missing.
    private func add(_ entry: HeldEntry, at inode: UInt64?) {
        let key = inode ?? entry.file.inode
        guard let other = entries[key] else { return entries[key] = entry }
        // Of a file's two remainders, the one counts that records sent notifications. In a copied spool a missing file
        // may have had the inode of another.
        let isOfSameFile = entry.file.isLike(other.file)
        let replaces = isOfSameFile ? other.id == nil || entry.id != nil : inode != nil
        let loser = replaces ? other : entry
        if replaces { entries[key] = entry }
        if !isOfSameFile { displaced[loser.name] = loser }
    }

    private func noteUnreadable(_ name: FileName, _ fault: String) {
        unreadable?.insert(name)
        let hint: Logger.MetadataValue = "its job cannot be released; if you move it to new/ by hand, all of it is sent"
        logger.error(
            "remainder of a held job cannot be read",
            metadata: [LogKey.path: "hold/\(name)", LogKey.error: "\(fault)", LogKey.hint: hint])
    }

    /// The current inode of the file, if it is in `hold/` or `new/` under its name: restoring a backup may have changed
    /// the inode, and some filesystems make up inode numbers.
    private func inode(of remainder: Remainder, _ name: FileName) throws(SystemError) -> UInt64? {
        guard let job = name.withoutRest else { return nil }
        for seen in [try spool.hold.look(job), try spool.look(job)] {
            if let file = seen?.status.fileOfRemainder, file.isLike(remainder.file) { return file.inode }
        }
        return nil
    }

    private func read(_ name: FileName) throws(SystemError) -> Remainder? {
        let bytes = try spool.holdDirectory.contents(of: name.bytes, limit: Remainder.byteLimit)
        var parser = JSON.Parser()
        return bytes.flatMap { try? parser.parse($0).root }.flatMap { Remainder($0) }
    }

    /// Removes remainders left by a crash: those of jobs that resume from the journal, that have ended, or that never
    /// left their archive. If a file is missing, its remainder is kept for a while, and removed only where inode
    /// numbers are reliable.
    ///
    /// - Parameter goingOn: The jobs in `work/` that are not held.
    package func reconcile(_ goingOn: [ClaimedJob]) {
        guard !entries.isEmpty else { return }
        let ids = Set(goingOn.map(\.id))
        do throws(SystemError) {
            for job in goingOn { try drop(job.status) }
            for (inode, entry) in entries where entry.id.map(ids.contains) == true { try drop(inode) }
            for entry in displaced.values where entry.id.map(ids.contains) == true {
                try spool.holdDirectory.unlink(entry.name.bytes)
            }
            let numbers = Set(entries.keys)
            guard !numbers.isEmpty, !spool.filesystem.isShared, !spool.isClustered else { return }
            for inode in numbers.subtracting(try spool.hold.present(of: numbers)) {
                guard let entry = entries[inode], try entry.isOver(inode, in: spool) else { continue }
                try drop(inode)
            }
        } catch {
            logger.warning("hold/ cannot be cleaned up", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Removes held files that a power loss has left in `new/` or `failed/` too. Jobs in the journal must have been
    /// looked up before: their own records say where they belong.
    package func finishMoves() {
        do throws(SystemError) {
            for name in try spool.hold.finishMoves() {
                logger.warning(
                    "job removed from hold/: since a power loss it is in new/ or failed/ too",
                    metadata: [LogKey.job: "\(name)"])
            }
        } catch {
            let hint: Logger.MetadataValue = "before you release a job, check that it is not in new/"
            logger.error(
                "hold/ cannot be compared with new/", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
    }

    /// The remainder of the job in a file; `nil` if it was never held or sent. `isFresh`: `refresh` was called since it was opened.
    ///
    /// - Throws: `SystemError`: the remainder cannot be read; do not claim the file.
    package func remainder(of status: FileStatus, isFresh: Bool = false) throws(SystemError) -> Remainder? {
        if !isFresh { try refresh() }
        guard let entry = entry(of: status) else { return nil }
        do throws(SystemError) {
            if let remainder = try read(entry.name) { return remainder }
        } catch {
            guard error.isNotFound else { throw error }
            // An operator has removed the remainder so that the whole job is sent.
            entries[status.inode] = nil
            return nil
        }
        throw .stale("read", "hold/\(entry.name)")
    }

    /// The entry for a file; `nil` if the file has no remainder.
    func entry(of status: FileStatus) -> HeldEntry? {
        guard let entry = entries[status.inode], entry.file.byteCount == status.byteCount else { return nil }
        // The replicas of a shared filesystem may differ in modification times.
        guard spool.filesystem.isShared || entry.file.modifiedAt == status.modifiedAt else { return nil }
        return entry
    }

    /// Deletes the remainder of a file once its content is recorded elsewhere, or once the file `isMoved` for good.
    package func forget(_ status: FileStatus, isMoved: Bool = false) {
        guard entry(of: status) != nil else { return }
        do throws(SystemError) {
            // The file may have come here by hand, and its claim is not synced.
            if !isMoved { try spool.archives.settle() }
            try drop(status.inode)
            // Without this sync a power loss could bring back a file that was moved by hand, and its remainder, too.
            if !isMoved { try spool.holdDirectory.sync(.holdSource) }
        } catch {
            // The next start removes it.
            logger.warning("hold/ cannot be cleaned up", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Deletes the remainder of a file, not that of another one that had its inode before.
    private func drop(_ status: FileStatus) throws(SystemError) {
        if entry(of: status) != nil { try drop(status.inode) }
    }

    private func drop(_ inode: UInt64) throws(SystemError) {
        guard let entry = entries[inode] else { return }
        try spool.holdDirectory.unlink(entry.name.bytes)
        entries[inode] = nil
    }

    /// Whether the file of a claimed job is in `hold/`.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    package func isParked(_ job: ClaimedJob) throws(SystemError) -> Bool {
        guard let entry = entry(of: job.status), entry.id == job.id else { return false }
        return try spool.hold.contains(job.status.inode)
    }

    /// Whether the job with this id is held.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    package func isParked(_ id: JobID) throws(SystemError) -> Bool {
        try refresh()
        guard let inode = entries.first(where: { $0.value.id == id })?.key else { return false }
        for name in try spool.hold.names(of: [inode])[inode] ?? [] {
            // In a copied spool another file may have the number.
            if let status = try spool.hold.look(name)?.status, entry(of: status) != nil { return true }
        }
        return false
    }

    /// The original names of the held jobs to which an operator refers by an id.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    func parkedNames(of reference: JobReference) throws(SystemError) -> [FileName] {
        try refresh()
        return entries.values.filter { $0.isMeant(by: reference) }.compactMap(\.name.withoutRest)
    }

    // MARK: Moves to and from hold/

    /// Moves a file from `new/` to `hold/`, and records when it was dropped.
    ///
    /// - Returns: The name in `hold/`; `nil` if the file is gone.
    /// - Throws: `SystemError`: the file was not moved.
    func hold(waiting file: SeenFile) throws(SystemError) -> FileName? {
        try refresh()
        guard entry(of: file.status) == nil else {
            return try spool.hold.park(waiting: file, id: .random(), leaving: nil)?.name
        }
        let remainder = Remainder(
            of: file.status.fileOfRemainder, droppedAt: min(WallTime(nanoseconds: file.status.changedAt), .now))
        try drop(file.status)
        let moved = try watching { () throws(SystemError) in
            try spool.hold.park(waiting: file, id: .random(), leaving: remainder.bytes)
        }
        guard let parked = moved else { return nil }
        if let name = parked.rest { entries[file.status.inode] = HeldEntry(remainder, as: name) }
        return parked.name
    }

    /// Moves a claimed job to `hold/`. None of its notifications may be under way, and all its feedback lines must be
    /// published.
    ///
    /// - Returns: The name in `hold/`.
    /// - Throws: `SystemError`: the job was not moved.
    package func park(_ job: ClaimedJob, droppedAt: WallTime, _ sent: Remainder.Sent) throws(SystemError) -> FileName {
        var remainder = Remainder(of: job.status.fileOfRemainder, droppedAt: droppedAt)
        remainder.sent = sent
        try drop(job.status)
        let parked = try watching { () throws(SystemError) in try spool.hold.park(job, leaving: remainder.bytes) }
        if let name = parked.rest { entries[job.status.inode] = HeldEntry(remainder, as: name) }
        return parked.name
    }

    /// Moves a claimed job of which nothing was sent back to `new/`, and records when it was dropped, since moving the
    /// file changes its timestamp.
    ///
    /// - Returns: The name in `new/`; `nil` if the file is gone.
    /// - Throws: `SystemError`: the job was not moved.
    package func giveBack(_ job: ClaimedJob, droppedAt: WallTime) throws(SystemError) -> FileName? {
        let remainder = Remainder(of: job.status.fileOfRemainder, droppedAt: droppedAt)
        try drop(job.status)
        let moved = try watching { () throws(SystemError) in try spool.hold.giveBack(job, leaving: remainder.bytes) }
        guard let back = moved else { return nil }
        if let name = back.rest { entries[job.status.inode] = HeldEntry(remainder, as: name) }
        return back.name
    }

    /// Moves a file. A failed move may have taken effect all the same, so this reads `hold/` again after an error.
    private func watching<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            load()
            throw error
        }
    }

    /// The part of a held file that was sent.
    ///
    /// - Throws: `ControlFault`: the file has changed since a part of it was sent, or its remainder is unusable;
    ///   `SystemError`: reading failed.
    func sent(of file: SeenFile) throws -> Remainder.Sent? {
        if let remainder = try remainder(of: file.status) { return remainder.sent }
        guard let unreadable else {
            throw ControlFault(
                "the remainders of held jobs cannot be read", hint: "fix hold/, then restart the daemon")
        }
        guard let name = file.name.rest, try spool.holdDirectory.status(of: name.bytes) != nil else { return nil }
        if unreadable.contains(name) {
            throw ControlFault(
                "its remainder cannot be read, and a part of it may have been sent",
                hint: "see the log, or remove hold/\(name) to send all of it")
        }
        // Its entry may have gone to another file that has the inode now.
        guard try read(name)?.sent != nil else { return nil }
        throw ControlFault(
            "its file was changed or replaced while it was held, and a part of it was sent",
            hint: "restore the original file, or remove hold/\(name) to send all of it")
    }

    /// Moves an archived job back to `new/`.
    ///
    /// - Parameters:
    ///   - place: The archived file.
    ///   - plan: The part of the job to send.
    ///   - isAnyway: Whether to send the whole job even if a job with the same producer's id was sent.
    /// - Returns: The name in `new/`; `nil` if the file is gone.
    /// - Throws: `SystemError`: the job was not moved.
    func retry(_ place: ArchivePlace, _ plan: RetryPlan, anyway isAnyway: Bool) throws(SystemError) -> FileName? {
        guard let status = try spool.archives.status(at: place) else { return nil }
        try refresh()
        // A crash may have left the remainder of an earlier attempt.
        try drop(status)
        // Restart relative times, or a job that expired would expire again at once.
        var remainder = Remainder(of: status.fileOfRemainder, droppedAt: .now)
        remainder.origin = place.path
        let wanted: FileName
        switch plan {
        case .whole(let name) where !isAnyway: return try spool.hold.takeOut(place, as: name, leaving: nil)?.name
        case .whole(let name): wanted = name
        case .rest(let name, let sent):
            wanted = name
            remainder.sent = sent
        }
        let moved = try watching { () throws(SystemError) in
            try spool.hold.takeOut(place, as: wanted, leaving: remainder.bytes)
        }
        guard let out = moved else { return nil }
        if let name = out.rest { entries[status.inode] = HeldEntry(remainder, as: name) }
        return out.name
    }
}
