package import APNSModel
package import JobFormat
package import JournalModel
package import LinuxIO
package import SpoolModel

/// The refs of one app's sent jobs: `dedupe/<app>-<day>` in the daemon's own folder, one file a day. Calls block.
///
/// Files are appended to and synced, never changed. A torn line from a crash fails its checksum and is skipped. When a
/// new file is begun, files older than the window are removed.
package final class RefBook {
    private static let folderName = Array("dedupe".utf8)

    private let app: String
    private let state: Directory
    private let window: Duration
    private var folder: Directory?
    private var today: RefFile?
    private var index = RefIndex()
    /// The days whose files have not been read yet, and the file that is being read.
    private var unread: [String] = []
    private var reading: RefReading?

    /// Opens the files of earlier runs. Read them with `readOn` before any other call.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - state: The daemon's own folder.
    ///   - window: How long refs count.
    ///   - now: The time of day.
    /// - Throws: `SystemError`: the folder cannot be read, so the sent jobs are unknown.
    package init(
        of app: String, in state: Directory, keeping window: Duration, at now: WallTime
    ) throws(SystemError) {
        (self.app, self.state, self.window) = (app, state, window)
        guard try state.status(of: Self.folderName) != nil else { return }
        let folder = try state.openChild(Self.folderName)
        self.folder = folder
        try removeOld(in: folder, at: now)
        unread = try folder.names().compactMap { day(of: $0) }
    }

    /// Reads the next part of the files of earlier runs.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: a file cannot be read, so the sent jobs are unknown.
    package func readOn() throws(SystemError) -> Bool {
        guard let folder else { return false }
        if reading == nil, let day = unread.popLast() {
            reading = try RefReading(name(of: day), of: day, in: folder)
        }
        guard let reading else { return false }
        if try !reading.readOn({ index.note(Array($0), on: reading.day, at: $1) }) { self.reading = nil }
        return true
    }

    /// Returns another job with the same sign that was sent within the window.
    ///
    /// - Parameters:
    ///   - sign: The sign.
    ///   - id: The job in question, which is not a duplicate of itself.
    ///   - now: The current time of day.
    /// - Returns: `nil` if there is none.
    /// - Throws: `SystemError`: the records cannot be read; ask again later.
    package func job(
        sentWith sign: JobSign, before id: JobID, at now: WallTime
    ) throws(SystemError) -> EarlierJob? {
        let key = RefRecord.key(of: sign)
        for place in index.places(of: key) {
            guard let record = try self.record(at: place), record.key == key, record.job.id != id,
                now - record.job.endedAt < window
            else { continue }
            return record.job
        }
        return nil
    }

    /// Returns the sent job of which this file is a copy. Returns `nil` for a file that was itself sent before: it was
    /// put back, not dropped again.
    ///
    /// - Throws: `SystemError`: the records cannot be read; ask again later.
    package func job(like file: FileSign, before id: JobID, at now: WallTime) throws(SystemError) -> EarlierJob? {
        let key = RefRecord.key(of: file)
        for place in index.places(of: key) {
            if try record(at: place)?.fileKey == key { return nil }
        }
        return try job(sentWith: .file(file.sum), before: id, at: now)
    }

    /// Records sent jobs that are not recorded yet, so that the records survive a power loss. A job that continued
    /// after it was held or finished is recorded again with its later end.
    ///
    /// - Throws: `SystemError`: for example ENOSPC or EIO; call again. A failed sync is final.
    package func keep(_ records: [RefRecord], at now: WallTime) throws(SystemError) {
        var new: [RefRecord] = []
        for record in records {
            if try !isKept(record) { new.append(record) }
        }
        guard !new.isEmpty else { return }
        let file = try self.file(at: now)
        let offsets = try file.append(new.map(\.line))
        for (record, offset) in zip(new, offsets) {
            for key in [record.key, record.fileKey].compactMap(\.self) { index.note(key, on: file.day, at: offset) }
        }
    }

    private func isKept(_ record: RefRecord) throws(SystemError) -> Bool {
        for place in index.places(of: record.key) {
            guard let known = try self.record(at: place) else { continue }
            // Times read from a file are truncated to milliseconds.
            if known.key == record.key, known.fileKey == record.fileKey, known.job.id == record.job.id,
                record.job.endedAt - known.job.endedAt < .milliseconds(1)
            {
                return true
            }
        }
        return false
    }

    // MARK: Files

    private func name(of day: String) -> [UInt8] { Array("\(app)-\(day)".utf8) }

    /// Returns the day of a file of this app; `nil` for other names.
    private func day(of name: [UInt8]) -> String? {
        let day = String(decoding: name.suffix(10), as: UTF8.self)
        return name == self.name(of: day) && WallTime(rfc3339: day + "T00:00:00Z") != nil ? day : nil
    }

    /// Returns the record at a place; `nil` if there is none, because the file was removed.
    private func record(at place: RefIndex.Place) throws(SystemError) -> RefRecord? {
        guard let folder, try folder.status(of: name(of: place.day)) != nil else { return nil }
        let file = try folder.openForReading(name(of: place.day))
        var bytes: [UInt8] = []
        _ = try file.read(RefRecord.lineByteLimit + 1, at: place.offset, appendingTo: &bytes)
        return RefRecord(line: bytes.prefix { $0 != UInt8(ascii: "\n") })
    }

    /// Returns the file to append to.
    private func file(at now: WallTime) throws(SystemError) -> RefFile {
        let day = now.day
        if let today, today.day == day {
            if try today.isThere() { return today }
            // The file was removed, and its records with it. Later records must be in a new file for the next start to
            // find them.
            index.remove(day)
        }
        let folder = try self.madeFolder()
        let file = try RefFile(name(of: day), of: day, in: folder)
        try removeOld(in: folder, at: now)
        today = file
        return file
    }

    private func madeFolder() throws(SystemError) -> Directory {
        if let folder, try folder.status().linkCount > 0 { return folder }
        let made = try state.makeChild(Self.folderName, mode: 0o700)
        folder = made
        return made
    }

    /// Removes the files that are older than the window, of all apps.
    private func removeOld(in folder: Directory, at now: WallTime) throws(SystemError) {
        for name in try folder.names() where name.count > 11 {
            let day = String(decoding: name.suffix(10), as: UTF8.self)
            guard RefIndex.isOver(day, after: window, at: now) else { continue }
            try folder.unlink(name)
            if name == self.name(of: day) { index.remove(day) }
        }
    }
}

/// The file of one day, open for appending.
private final class RefFile {
    let day: String
    private let file: OpenFile
    /// The offset of the next line.
    private var end: Int64
    /// Whether the file ends in an incomplete line.
    private var isTorn: Bool

    /// Opens a day's file. Creates it if it does not exist.
    init(_ name: [UInt8], of day: String, in folder: Directory) throws(SystemError) {
        let file = try folder.openForWriting(name, mode: 0o600)
        // Even if the file is not new: the process that created it may have died before this sync.
        try folder.sync(.state)
        let end = try file.status().byteCount
        var last: [UInt8] = []
        if end > 0 { _ = try file.read(1, at: end - 1, appendingTo: &last) }
        (self.day, self.end, isTorn) = (day, end, end > 0 && last != [UInt8(ascii: "\n")])
        self.file = file
    }

    /// Whether the file still has a name.
    func isThere() throws(SystemError) -> Bool { try file.status().linkCount > 0 }

    /// Appends lines and syncs them. Returns the offset of each line.
    func append(_ lines: [[UInt8]]) throws(SystemError) -> [Int64] {
        var bytes: [UInt8] = isTorn ? [UInt8(ascii: "\n")] : []
        var offsets: [Int64] = []
        for line in lines {
            offsets.append(end + Int64(bytes.count))
            bytes += line
        }
        try file.write(bytes, at: end)
        try file.syncData(.state)
        (end, isTorn) = (end + Int64(bytes.count), false)
        return offsets
    }
}

/// The file of one day, while it is read for the first time.
private final class RefReading {
    /// How many bytes are read at a time.
    private static let pieceByteCount = 256 << 10

    let day: String
    private let file: OpenFile
    private var lines = RefLines()
    private var offset: Int64 = 0

    /// Opens a day's file.
    init(_ name: [UInt8], of day: String, in folder: Directory) throws(SystemError) {
        file = try folder.openForReading(name)
        self.day = day
    }

    /// Reads the next part, and reports each ref with the offset of its line. Returns whether there is more.
    func readOn(_ found: (_ key: ArraySlice<UInt8>, _ offset: Int64) -> Void) throws(SystemError) -> Bool {
        var piece: [UInt8] = []
        let count = try file.read(Self.pieceByteCount, at: offset, appendingTo: &piece)
        lines.take(piece, found)
        offset += Int64(count)
        return count > 0
    }
}
