import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel

/// The refs of one app's sent jobs as one node has recorded them: a file a day, read once and then as it grows.
///
/// Calls block. A torn line from a crash fails its checksum and is skipped.
final class RefShelf {
    /// How many bytes are read at a time.
    private static let pieceByteCount = 256 << 10

    /// The file of a day, and how far it was read.
    private struct DayFile {
        var lines = RefLines()
        var offset: Int64 = 0
    }

    private let app: String
    private(set) var folder: Directory
    private var index = RefIndex()
    private var files: [String: DayFile] = [:]
    /// The days whose files have not been read to their end yet.
    private var unread: [String] = []

    /// Opens the files without reading them.
    ///
    /// - Throws: `SystemError`: the folder cannot be read, so the sent jobs are unknown.
    init(of app: String, in folder: Directory) throws(SystemError) {
        (self.app, self.folder) = (app, folder)
        unread = try folder.names().compactMap { day(of: $0) }
    }

    /// Reads the next part of the files.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: a file cannot be read, so the sent jobs are unknown.
    func readOn() throws(SystemError) -> Bool {
        guard let day = unread.last else { return false }
        if try !readOn(day) { unread.removeLast() }
        return true
    }

    /// Reads what was added to the files since. Only the newest two days' are looked at, and days that are new: another
    /// node's clock may be in the next day already.
    ///
    /// - Throws: `SystemError`: a file cannot be read; ask again later.
    func readNews() throws(SystemError) {
        let days = try folder.names().compactMap { day(of: $0) }.sorted()
        for day in Set(days.suffix(2)).union(days.filter { files[$0] == nil }) {
            while try readOn(day) {}
        }
    }

    private func readOn(_ day: String) throws(SystemError) -> Bool {
        var file = files[day] ?? DayFile()
        var piece: [UInt8] = []
        do throws(SystemError) {
            let count = try folder.openForReading(name(of: day)).read(
                Self.pieceByteCount, at: file.offset, appendingTo: &piece)
            file.offset += Int64(count)
        } catch {
            // It was removed because its time is over.
            guard error.isNotFound else { throw error }
        }
        file.lines.read(piece) { index.note(Array($0), on: day, at: $1) }
        files[day] = file
        return !piece.isEmpty
    }

    /// Records a line that was appended to a file.
    func note(_ key: [UInt8], on day: String, at offset: Int64) { index.note(key, on: day, at: offset) }

    /// Forgets a day, whose file is gone.
    func remove(_ day: String) {
        index.remove(day)
        files[day] = nil
    }

    /// Uses another folder, since the one before was removed.
    func move(to folder: Directory) { self.folder = folder }

    /// Returns the records that a key may have, the latest day first.
    ///
    /// - Throws: `SystemError`: they cannot be read.
    func records(of key: [UInt8]) throws(SystemError) -> [RefRecord] {
        var records: [RefRecord] = []
        for place in index.places(of: key) {
            if let record = try record(at: place) { records.append(record) }
        }
        return records
    }

    /// Returns the record at a place; `nil` if there is none, because the file was removed.
    private func record(at place: RefIndex.Place) throws(SystemError) -> RefRecord? {
        guard try folder.status(of: name(of: place.day)) != nil else { return nil }
        let file = try folder.openForReading(name(of: place.day))
        var bytes: [UInt8] = []
        _ = try file.read(RefRecord.lineByteLimit + 1, at: place.offset, appendingTo: &bytes)
        return RefRecord(line: bytes.prefix { $0 != UInt8(ascii: "\n") })
    }

    /// Returns the name of a day's file.
    func name(of day: String) -> [UInt8] { Array("\(app)-\(day)".utf8) }

    /// Returns the day of a file of this app; `nil` for other names.
    private func day(of name: [UInt8]) -> String? {
        let day = String(decoding: name.suffix(10), as: UTF8.self)
        return name == self.name(of: day) && WallTime(rfc3339: day + "T00:00:00Z") != nil ? day : nil
    }
}
