import APNSGateway
import APNSModel
import DoorModel
import LinuxIO

/// The log of the ids that clients chose and that were spooled: files of 32-byte records in the door's state folder.
///
/// It is not synced: after a power loss, requests of the last seconds whose answers were lost too may be spooled twice. A
/// process that is killed loses nothing that it has written. Calls block.
final class IDLog {
    private var folder: Directory
    private let lifetime: Duration
    private var current: OpenFile
    private var number: Int
    private var count = 0
    /// The files before the current one, with the numbers of their records, the oldest first.
    private var older: [(number: Int, count: Int)]

    /// How many ids one file has at most, and how many those before the current one have.
    private static let (recordLimit, olderLimit) = (1 << 15, 1 << 20)

    private static let prefix = Array("relay-ids.".utf8)

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
        let numbers = try folder.names().compactMap(number(in:)).sorted()
        let now = WallTime.now
        var known: [(key: RecentIDs.Key, time: WallTime)] = []
        var older: [(number: Int, count: Int)] = []
        for number in numbers {
            let bytes = try folder.openForReading(name(of: number)).contents(limit: fileByteLimit) ?? []
            // A crash may have cut off the last record.
            let count = bytes.count / RecentIDs.Key.recordByteCount
            guard count > 0 else {
                try folder.unlink(name(of: number))
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
        let current = try folder.create(name(of: number), mode: 0o600)
        let log = IDLog(folder, lifetime, current, (number, older))
        try log.removeOld()
        return (log, known)
    }

    private static let fileByteLimit = 1 << 22

    private init(
        _ folder: Directory, _ lifetime: Duration, _ current: consuming OpenFile,
        _ files: (number: Int, older: [(number: Int, count: Int)])
    ) {
        (self.folder, self.lifetime, (number, older)) = (folder, lifetime, files)
        self.current = current
    }

    /// Appends records.
    ///
    /// - Returns: Whether the folder still had its path. If not, the records are in the folder that has it now, and the
    ///   earlier ones are missing there.
    /// - Throws: `SystemError`: they may be missing after a restart.
    func append(_ records: [UInt8]) throws(SystemError) -> Bool {
        guard !records.isEmpty else { return true }
        let isInPlace = try followPath()
        if count >= Self.recordLimit { try begin() }
        do throws(SystemError) {
            try current.write(records)
        } catch {
            // A part of a record may be in the file, and would shift all later ones.
            count = Self.recordLimit
            throw error
        }
        count += records.count / RecentIDs.Key.recordByteCount
        return isInPlace
    }

    /// Opens the folder that has the path now, if it is another. Returns whether the current file still has its name.
    private func followPath() throws(SystemError) -> Bool {
        let there = try Directory.open(path: folder.path)
        guard try there.status(of: Self.name(of: number))?.identity != current.status().identity else { return true }
        folder = there
        // Another folder may have files of earlier times.
        number = max(number, try there.names().compactMap(Self.number(in:)).max() ?? 0)
        (older, count) = ([], Self.recordLimit)
        return false
    }

    private func begin() throws(SystemError) {
        current = try folder.create(Self.name(of: number + 1), mode: 0o600)
        older.append((number, count))
        (number, count) = (number + 1, 0)
        try removeOld()
    }

    /// Removes files whose ids are all too old, and the oldest ones beyond the limit.
    private func removeOld() throws(SystemError) {
        let now = WallTime.now
        var total = older.reduce(0) { $0 + $1.count }
        while let first = older.first {
            let name = Self.name(of: first.number)
            let modifiedAt = try folder.status(of: name)?.modifiedAt
            let isOld = modifiedAt.map { now - WallTime(nanoseconds: $0) >= lifetime } ?? true
            guard isOld || total > Self.olderLimit else { return }
            try folder.unlink(name)
            total -= first.count
            older.removeFirst()
        }
    }

    private static func name(of number: Int) -> [UInt8] { prefix + Array(String(number).utf8) }

    private static func number(in name: [UInt8]) -> Int? {
        guard name.starts(with: prefix) else { return nil }
        return Int(String(decoding: name.dropFirst(prefix.count), as: UTF8.self))
    }
}
