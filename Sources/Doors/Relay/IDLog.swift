import DoorModel
import LinuxIO
import PushModel
import ServiceProcess

/// The log of the ids that clients chose and that were spooled: files of 32-byte records.
///
/// One is in the door's state folder, for its next start; in a cluster each app has another one, for other doors. It is not
/// synced unless its owner asks for it: after a power loss, requests of the last seconds whose answers were lost too may be
/// spooled twice. A process that is killed loses nothing that it has written. Calls block.
final class IDLog {
    private var folder: Directory
    private let lifetime: Duration
    private let prefix: [UInt8]
    /// Whether others read the current file, and see by its lock that this process writes it.
    private let isShared: Bool
    private var current: OpenFile
    private var number: Int
    private var count = 0
    /// Whether a part of a record may be at the end of the current file, where it would shift all later ones, or whether
    /// its lock may be lost.
    private var isBroken = false
    /// The files before the current one, with the numbers of their records, the oldest first.
    private var older: [(number: Int, count: Int)]

    /// How many ids one file has at most, and how many those before the current one have.
    private static let (recordLimit, olderLimit) = (1 << 15, 1 << 20)

    private static let ownPrefix = Array("relay-ids.".utf8)

    /// Opens the log and reads it.
    ///
    /// - Parameters:
    ///   - folder: The door's state folder.
    ///   - lifetime: How long an id is of interest.
    /// - Returns: The log, and the ids in it that are younger, the oldest first.
    /// - Throws: `SystemError`: the folder cannot be read or written.
    static func open(
        in folder: Directory, lifetime: Duration
    ) throws(SystemError) -> (log: IDLog, known: [(key: RecentIDs.Key, time: WallTime)]) {
        let prefix = ownPrefix
        let numbers = try folder.names().compactMap { Self.number(in: $0, after: prefix) }.sorted()
        let now = WallTime.now
        var known: [(key: RecentIDs.Key, time: WallTime)] = []
        var older: [(number: Int, count: Int)] = []
        for number in numbers {
            let bytes = try folder.openForReading(prefix + name(of: number)).contents(limit: fileByteLimit) ?? []
            // A crash may have cut off the last record.
            let count = bytes.count / RecentIDs.Key.recordByteCount
            guard count > 0 else {
                try folder.unlink(prefix + name(of: number))
                continue
            }
            older.append((number, count))
            for index in 0..<count {
                let start = index * RecentIDs.Key.recordByteCount
                let record = RecentIDs.Key.record(in: bytes[start..<start + RecentIDs.Key.recordByteCount])
                let isForgotten = record.time == RecentIDs.Key.forgotten
                if isForgotten || now - record.time < lifetime { known.append(record) }
            }
        }
        let number = (numbers.last ?? 0) + 1
        let log = IDLog(folder, (prefix, lifetime, false), try folder.create(prefix + name(of: number), mode: 0o600))
        (log.number, log.older) = (number, older)
        try log.removeOld()
        return (log, known)
    }

    /// Begins a log that others read, in files that nobody else writes.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - prefix: How the names of its files begin.
    ///   - lifetime: How long an id is of interest.
    /// - Returns: The log, which is empty.
    /// - Throws: `SystemError`: a file cannot be created or locked.
    static func begin(in folder: Directory, named prefix: String, lifetime: Duration) throws(SystemError) -> IDLog {
        let prefix = Array(prefix.utf8)
        let file = try locked(prefix + name(of: 1), in: folder)
        return IDLog(folder, (prefix, lifetime, true), file)
    }

    /// Creates a file that is locked before anybody sees it.
    private static func locked(_ name: [UInt8], in folder: Directory) throws(SystemError) -> OpenFile {
        let draft = name + [UInt8(ascii: "~")]
        let file = try folder.create(draft, mode: 0o640)
        guard try file.lock() else { throw .locked("lock", file.path) }
        try folder.rename(draft, to: folder, as: name)
        return file
    }

    private static let fileByteLimit = 1 << 22

    private init(
        _ folder: Directory, _ terms: (prefix: [UInt8], lifetime: Duration, isShared: Bool),
        _ current: consuming OpenFile
    ) {
        (self.folder, (prefix, lifetime, isShared)) = (folder, terms)
        (number, older) = (1, [])
        self.current = current
    }

    /// Appends records.
    ///
    /// - Parameters:
    ///   - records: The records; none to find out whether there is a folder for them.
    ///   - mayBeginFile: Whether they may be the first of another file if the current one is long.
    /// - Returns: Whether the folder still had its path. If not, the records are in the folder that has it now, and the
    ///   earlier ones are missing there.
    /// - Throws: `SystemError`: they may be missing after a restart.
    @discardableResult
    func append(_ records: [UInt8], mayBeginFile: Bool = true) throws(SystemError) -> Bool {
        // The owner of one that others read looks itself, and begins another.
        let isInPlace = if isShared { true } else { try followPath() }
        guard !records.isEmpty else { return true }
        if isBroken || mayBeginFile && count >= Self.recordLimit {
            try begin(with: records)
            return isInPlace
        }
        do throws(SystemError) {
            try current.write(records)
        } catch {
            isBroken = true
            throw error
        }
        count += records.count / RecentIDs.Key.recordByteCount
        return isInPlace
    }

    /// Opens the folder that has the path now, if it is another. Returns whether the current file still has its name.
    private func followPath() throws(SystemError) -> Bool {
        if try isThere { return true }
        folder = try Directory.open(path: folder.path)
        // Another folder may have files of earlier times.
        let numbers = try folder.names().compactMap { Self.number(in: $0, after: prefix) }
        number = max(number, numbers.max() ?? 0)
        (older, count) = ([], Self.recordLimit)
        return false
    }

    /// Whether the current file still has its path.
    ///
    /// - Throws: `SystemError`: there is no such folder any more; or for example EIO.
    var isThere: Bool {
        get throws(SystemError) {
            let there = try Directory.open(path: folder.path)
            return try there.status(of: prefix + Self.name(of: number))?.identity == current.status().identity
        }
    }

    /// Makes everything appended visible to other hosts, and checks that the current file is still locked.
    ///
    /// - Throws: `SystemError`: others may not see it.
    func secure() throws(SystemError) {
        do throws(SystemError) {
            try current.syncData(.other)
            guard try current.lock() else { throw .stale("lock", current.path) }
        } catch {
            isBroken = true
            throw error
        }
    }

    /// Begins another file. The current one is released only when the records are in that one.
    private func begin(with records: [UInt8]) throws(SystemError) {
        let name = prefix + Self.name(of: number + 1)
        let file: OpenFile
        if isShared { file = try Self.locked(name, in: folder) } else { file = try folder.create(name, mode: 0o600) }
        do throws(SystemError) {
            try file.write(records)
        } catch {
            try folder.unlink(name)
            throw error
        }
        older.append((number, count))
        current = file
        (number, count, isBroken) = (number + 1, records.count / RecentIDs.Key.recordByteCount, false)
        try removeOld()
    }

    /// Removes files whose ids are all too old, and the oldest ones beyond the limit.
    private func removeOld() throws(SystemError) {
        let now = WallTime.now
        var total = older.reduce(0) { $0 + $1.count }
        while let first = older.first {
            let name = prefix + Self.name(of: first.number)
            let modifiedAt = try folder.status(of: name)?.modifiedAt
            let isOld = modifiedAt.map { now - WallTime(nanoseconds: $0) >= lifetime } ?? true
            guard isOld || total > Self.olderLimit else { return }
            try folder.unlink(name)
            total -= first.count
            older.removeFirst()
        }
    }

    private static func name(of number: Int) -> [UInt8] { Array(String(number).utf8) }

    private static func number(in name: [UInt8], after prefix: [UInt8]) -> Int? {
        guard name.starts(with: prefix) else { return nil }
        return Int(String(decoding: name.dropFirst(prefix.count), as: UTF8.self))
    }
}
