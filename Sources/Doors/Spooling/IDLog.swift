import APNSGateway
import APNSModel
import DoorModel
import LinuxIO

/// The log of the ids that clients chose and that were spooled: files of 32-byte records in the door's state folder.
///
/// It is not synced: after a power loss, requests of the last seconds whose answers were lost too may be spooled twice. A
/// process that is killed loses nothing that it has written. Calls block.
final class IDLog {
    private let folder: Directory
    private let lifetime: Duration
    private var current: OpenFile
    private var number: Int
    private var count = 0
    /// The numbers of the files, the current one last.
    private var numbers: [Int]

    /// How many ids one file has, and how many files there are at most.
    private static let (recordLimit, fileLimit) = (1 << 15, 33)

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
        for number in numbers.suffix(fileLimit) {
            let file = try folder.openForReading(name(of: number))
            let bytes = try file.contents(limit: recordLimit * 2 * RecentIDs.Key.recordByteCount) ?? []
            for start in stride(from: 0, to: bytes.count, by: RecentIDs.Key.recordByteCount) {
                // A crash may have cut off the last record.
                guard start + RecentIDs.Key.recordByteCount <= bytes.count else { break }
                let record = RecentIDs.Key.record(in: bytes[start..<start + RecentIDs.Key.recordByteCount])
                if now - record.time < lifetime { known.append(record) }
            }
        }
        let number = (numbers.last ?? 0) + 1
        let current = try folder.create(name(of: number), mode: 0o600)
        let log = IDLog(folder, lifetime, current, numbers: numbers + [number])
        try log.removeOld()
        return (log, known)
    }

    private init(_ folder: Directory, _ lifetime: Duration, _ current: consuming OpenFile, numbers: [Int]) {
        (self.folder, self.lifetime, self.numbers) = (folder, lifetime, numbers)
        self.current = current
        number = numbers.last ?? 1
    }

    /// Appends records.
    ///
    /// - Throws: `SystemError`: they may be missing after a restart.
    func append(_ records: [UInt8]) throws(SystemError) {
        guard !records.isEmpty else { return }
        if count >= Self.recordLimit { try begin() }
        try current.write(records)
        count += records.count / RecentIDs.Key.recordByteCount
    }

    private func begin() throws(SystemError) {
        current = try folder.create(Self.name(of: number + 1), mode: 0o600)
        (number, count) = (number + 1, 0)
        numbers.append(number)
        try removeOld()
    }

    /// Removes files whose ids are all too old, and the oldest ones beyond the limit.
    private func removeOld() throws(SystemError) {
        let now = WallTime.now
        while let first = numbers.first, first != number {
            let name = Self.name(of: first)
            let modifiedAt = try folder.status(of: name)?.modifiedAt
            let isOld = modifiedAt.map { now - WallTime(nanoseconds: $0) >= lifetime } ?? true
            guard isOld || numbers.count > Self.fileLimit else { return }
            try folder.unlink(name)
            numbers.removeFirst()
        }
    }

    private static func name(of number: Int) -> [UInt8] { prefix + Array(String(number).utf8) }

    private static func number(in name: [UInt8]) -> Int? {
        guard name.starts(with: prefix) else { return nil }
        return Int(String(decoding: name.dropFirst(prefix.count), as: UTF8.self))
    }
}
