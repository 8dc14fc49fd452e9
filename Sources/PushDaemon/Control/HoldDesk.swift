import APNSModel
import Document
import JSON
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Knows which files of an app were parked, or are tried again, and what is left of them: the `.rest` files in `hold/`.
///
/// A file goes with its rest by its number, length and last change, wherever it is and whatever it is called. Calls block:
/// the desk belongs to who owns the app's spool.
final class HoldDesk {
    /// A rest as long as it is not needed: without indices.
    struct Entry {
        /// The name that it has in `hold/`.
        let name: FileName
        /// What it is of.
        let file: Rest.File
        let id: JobID?
        let ref: String?
        /// The archive that it was taken out of, if it was.
        let origin: ArchivePlace?

        init(_ rest: Rest, as name: FileName) {
            (self.name, file, id, ref) = (name, rest.file, rest.sent?.id, rest.sent?.ref)
            origin = rest.origin.flatMap(ArchivePlace.init(path:))
        }
    }

    let spool: AppSpool
    private let logger: Logger
    /// By the numbers of the files.
    private var entries: [UInt64: Entry] = [:]
    /// Those that cannot be read; `nil`: it is not known which there are.
    private var unreadable: Set<FileName>? = []

    /// How long what is left of a job that is nowhere is kept, from when it was parked: somebody may have it elsewhere.
    private static let keptAlone = Duration.seconds(30 * 86_400)

    /// A desk that knows nothing yet.
    init(_ spool: AppSpool, _ logger: Logger) {
        (self.spool, self.logger) = (spool, logger)
    }

    // MARK: At the start

    /// Reads what is in `hold/`.
    func load() {
        unreadable = nil
        do throws(SystemError) {
            let names = try spool.rests()
            unreadable = []
            for name in names { load(name) }
        } catch {
            let hint: Logger.MetadataValue = "mend that, then restart; what is moved out of it by hand is sent whole"
            logger.error("hold/ cannot be read", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
    }

    private func load(_ name: FileName) {
        do throws(SystemError) {
            guard let rest = try read(name) else { return noteUnreadable(name, "it is damaged, or of another version") }
            let entry = Entry(rest, as: name)
            let inode = try number(of: rest, name)
            // Should a file have two, the one counts that knows what was sent.
            if entries[inode]?.id == nil || entry.id != nil { entries[inode] = entry }
            // Taking it out of its archive may have been cut off before its last step.
            if let origin = entry.origin { try spool.dropLoneResult(of: origin) }
        } catch {
            noteUnreadable(name, "\(error)")
        }
    }

    private func noteUnreadable(_ name: FileName, _ fault: String) {
        unreadable?.insert(name)
        let hint: Logger.MetadataValue = "the job beside it is not released; moved to new/ by hand it is sent whole"
        logger.error(
            "what is left of a parked job cannot be read",
            metadata: [LogKey.path: "hold/\(name)", LogKey.error: "\(fault)", LogKey.hint: hint])
    }

    /// The number that the file has now: a backup may have given it another, and some filesystems make them up.
    private func number(of rest: Rest, _ name: FileName) throws(SystemError) -> UInt64 {
        guard let job = name.withoutRest else { return rest.file.inode }
        for seen in [try spool.lookInHold(job), try spool.look(job)] {
            guard let status = seen?.status, status.byteCount == rest.file.byteCount,
                status.modifiedAt == rest.file.modifiedAt
            else { continue }
            return status.inode
        }
        return rest.file.inode
    }

    private func read(_ name: FileName) throws(SystemError) -> Rest? {
        guard let bytes = try spool.held.contents(of: name.bytes, limit: Rest.byteLimit) else { return nil }
        var parser = JSON.Parser()
        return (try? parser.parse(bytes).root).flatMap { Rest($0) }
    }

    /// Removes what a crash has left over: of jobs that go on from the journal, and of those that are over, or never left
    /// their archive. What is left of one that is nowhere is kept for a while, where the numbers of files tell that.
    ///
    /// - Parameter goingOn: The jobs in `work/` that are not parked.
    func reconcile(_ goingOn: [ClaimedJob]) {
        guard !entries.isEmpty else { return }
        let (ids, claimed) = (Set(goingOn.map(\.id)), Set(goingOn.map(\.status.inode)))
        do throws(SystemError) {
            for (inode, entry) in entries {
                guard claimed.contains(inode) || entry.id.map(ids.contains) == true else { continue }
                try drop(inode)
            }
            let numbers = Set(entries.keys)
            guard !numbers.isEmpty, !spool.filesystem.isShared else { return }
            for inode in numbers.subtracting(try spool.present(of: numbers)) {
                guard let entry = entries[inode], try isOver(entry, inode) else { continue }
                try drop(inode)
            }
        } catch {
            logger.warning("hold/ cannot be tidied up", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Whether the job of a file that neither waits nor is parked or sent is over; or is gone for so long that nobody asks.
    private func isOver(_ entry: Entry, _ inode: UInt64) throws(SystemError) -> Bool {
        if let origin = entry.origin, try spool.archived(at: origin)?.inode == inode { return true }
        guard let status = try spool.held.status(of: entry.name.bytes) else { return true }
        let parkedAt = WallTime(nanoseconds: status.modifiedAt)
        if parkedAt + Self.keptAlone <= .now { return true }
        return try spool.isInFailed(inode, since: parkedAt.day)
    }

    // MARK: What is left

    /// What is left of the job in a file; `nil` when nothing of it was ever parked or sent.
    ///
    /// - Throws: `SystemError`: that cannot be read; the file is not to be taken.
    func rest(of status: FileStatus) throws(SystemError) -> Rest? {
        guard let entry = entry(of: status) else { return nil }
        do throws(SystemError) {
            if let rest = try read(entry.name) { return rest }
        } catch {
            guard error.isNotFound else { throw error }
            // Somebody wants all of the job to be sent.
            entries[status.inode] = nil
            return nil
        }
        throw .stale("read", "hold/\(entry.name)")
    }

    /// Whether something is left of the job in a file.
    func entry(of status: FileStatus) -> Entry? {
        guard !entries.isEmpty, let entry = entries[status.inode], entry.file.byteCount == status.byteCount else {
            return nil
        }
        // The replicas of a shared filesystem may differ in that.
        guard spool.filesystem.isShared || entry.file.modifiedAt == status.modifiedAt else { return nil }
        return entry
    }

    /// Forgets what was left of the job in a file, which others know now.
    func forget(_ status: FileStatus) {
        guard entry(of: status) != nil else { return }
        do throws(SystemError) {
            try drop(status.inode)
            // A file that was moved by hand could be back there after a power loss, and what was left of it then.
            try spool.held.sync(.holdSource)
        } catch {
            // The next start removes it.
            logger.warning("hold/ cannot be tidied up", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func drop(_ inode: UInt64) throws(SystemError) {
        guard let entry = entries[inode] else { return }
        try spool.held.unlink(entry.name.bytes)
        entries[inode] = nil
    }

    /// Whether a claimed job is the file that was parked.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    func isParked(_ job: ClaimedJob) throws(SystemError) -> Bool {
        guard let entry = entry(of: job.status), entry.id == job.id else { return false }
        return try spool.isInHold(job.status.inode)
    }

    /// Whether a job is parked, by its id.
    ///
    /// - Throws: `SystemError`: `hold/` cannot be read.
    func isParked(_ id: JobID) throws(SystemError) -> Bool {
        guard let inode = entries.first(where: { $0.value.id == id })?.key else { return false }
        return try spool.isInHold(inode)
    }

    /// The names that jobs had when they were parked, of those that an operator means by one of their ids.
    func parkedNames(of reference: JobReference) -> [FileName] {
        entries.values.filter { $0.isMeant(by: reference) }.compactMap(\.name.withoutRest)
    }

    // MARK: To hold/ and back

    /// Parks a file of `new/`, and keeps the time of its drop.
    ///
    /// - Returns: The name it has in `hold/`; `nil` when it is gone.
    /// - Throws: `SystemError`: it is where it was.
    func hold(waiting file: SeenFile) throws(SystemError) -> FileName? {
        guard entry(of: file.status) == nil else {
            return try spool.hold(waiting: file, id: .random(), leaving: nil)?.name
        }
        let rest = Rest(of: file.status.rest, droppedAt: min(WallTime(nanoseconds: file.status.changedAt), .now))
        try drop(file.status.inode)
        let moved = try watching { () throws(SystemError) in
            try spool.hold(waiting: file, id: .random(), leaving: rest.bytes)
        }
        guard let parked = moved else { return nil }
        if let name = parked.rest { entries[file.status.inode] = Entry(rest, as: name) }
        return parked.name
    }

    /// Parks a claimed job of which nothing is under way, and whose lines are out.
    ///
    /// - Returns: The name it has in `hold/`.
    /// - Throws: `SystemError`: it is where it was.
    func park(_ job: ClaimedJob, droppedAt: WallTime, _ sent: Rest.Sent) throws(SystemError) -> FileName {
        var rest = Rest(of: job.status.rest, droppedAt: droppedAt)
        rest.sent = sent
        try drop(job.status.inode)
        let parked = try watching { () throws(SystemError) in try spool.hold(job, leaving: rest.bytes) }
        if let name = parked.rest { entries[job.status.inode] = Entry(rest, as: name) }
        return parked.name
    }

    /// Moves a claimed job of which nothing was sent back to `new/`, and keeps the time of its drop: the way there changes that of
    /// the file.
    ///
    /// - Returns: The name it has there; `nil` when it is gone.
    /// - Throws: `SystemError`: it is where it was.
    func giveBack(_ job: ClaimedJob, droppedAt: WallTime) throws(SystemError) -> FileName? {
        let rest = Rest(of: job.status.rest, droppedAt: droppedAt)
        try drop(job.status.inode)
        let moved = try watching { () throws(SystemError) in try spool.giveBack(job, leaving: rest.bytes) }
        guard let back = moved else { return nil }
        if let name = back.rest { entries[job.status.inode] = Entry(rest, as: name) }
        return back.name
    }

    /// Moves a file. What has failed may have been done all the same: then it counts what is in `hold/`.
    private func watching<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            load()
            throw error
        }
    }

    /// What was sent of a parked file.
    ///
    /// - Throws: `ControlFault`: it is not the file any more that something was sent of; `SystemError`: that cannot be read.
    func sent(of file: SeenFile) throws -> Rest.Sent? {
        if let rest = try rest(of: file.status) { return rest.sent }
        guard let unreadable else {
            throw ControlFault(
                "what is left of parked jobs cannot be read", hint: "mend hold/, then restart the daemon")
        }
        guard let name = file.name.rest else { return nil }
        if unreadable.contains(name), try spool.held.status(of: name.bytes) != nil {
            throw ControlFault(
                "what is left of it cannot be read, and a part of it may have been sent",
                hint: "see the log; or remove hold/\(name), and all of it is sent")
        }
        guard entries.values.contains(where: { $0.name == name && $0.id != nil }) else { return nil }
        throw ControlFault(
            "it was changed or replaced since it was parked, and a part of it was sent",
            hint: "put the file back as it was; or remove hold/\(name), and all of it is sent")
    }

    /// Lets a parked file go on.
    ///
    /// - Returns: The name it has in `new/`; `nil` when it is gone.
    /// - Throws: `SystemError`: it is where it was.
    func release(_ file: SeenFile) throws(SystemError) -> FileName? {
        try spool.release(file)
    }

    /// Moves a job that is over back to `new/`.
    ///
    /// - Parameters:
    ///   - place: Where it is.
    ///   - plan: What is to be sent of it.
    ///   - isAnyway: Whether an operator wants all of it to be sent, though a job with its producer's id was.
    /// - Returns: The name it has there; `nil` when it is gone.
    /// - Throws: `SystemError`: it is where it was.
    func retry(_ place: ArchivePlace, _ plan: RetryPlan, anyway isAnyway: Bool) throws(SystemError) -> FileName? {
        guard let status = try spool.archived(at: place) else { return nil }
        // What a crash may have left of an earlier try.
        try drop(status.inode)
        // Times count anew: what was given up for its age would be again at once.
        var rest = Rest(of: status.rest, droppedAt: .now)
        rest.origin = place.path
        let wanted: FileName
        switch plan {
        case .whole(let name) where !isAnyway: return try spool.takeOut(place, as: name, leaving: nil)?.name
        case .whole(let name): wanted = name
        case .rest(let name, let sent):
            wanted = name
            rest.sent = sent
        }
        let moved = try watching { () throws(SystemError) in
            try spool.takeOut(place, as: wanted, leaving: rest.bytes)
        }
        guard let out = moved else { return nil }
        if let name = out.rest { entries[status.inode] = Entry(rest, as: name) }
        return out.name
    }
}

extension FileStatus {
    /// What tells the file from others, wherever it is moved.
    fileprivate var rest: Rest.File { Rest.File(inode: inode, byteCount: byteCount, modifiedAt: modifiedAt) }
}
