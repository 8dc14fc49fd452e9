import JobFormat
import LinuxIO
import SpoolModel

/// Reads what the daemons let an app's producers know of its jobs: `tmp/.jobs/`. Calls block.
struct NoticeReader {
    /// What was read of each file. A file gets lines at its end only, or keeps them under another name.
    typealias Marks = [FileIdentity: Mark]

    /// What was read of a file.
    struct Mark {
        /// Up to where no line is worth reading again.
        fileprivate let end: Int64
        /// How the file begins. One that begins otherwise is another, which has got the inode of a removed one.
        fileprivate let head: [UInt8]
    }

    private static let pieceByteCount: Int64 = 1 << 20
    private static let headByteCount = 256
    /// The longest line of a daemon, which has two names and a result.
    private static let lineByteLimit: Int64 = 1 << 17

    private let folder: Directory

    /// Opens the folder. `nil` if no daemon has made it; producers can make one of this name before.
    ///
    /// - Parameter home: The app's folder.
    /// - Throws: `SystemError`: for example EACCES, if the user may not drop jobs either.
    init?(of home: Directory) throws(SystemError) {
        let staging = try home.openChild(Array("tmp".utf8))
        guard try staging.status(of: EndedJob.folder)?.kind == .directory else { return nil }
        folder = try staging.openChild(EndedJob.folder)
        // Only daemons write in `work/`.
        var daemon = try home.status()
        if let work = try home.status(of: Array("work".utf8)) { daemon = work }
        guard try [daemon.owner, 0].contains(folder.status().owner) else { return nil }
    }

    /// Whether a file of this name is in `hold/`.
    func isHeld(_ name: FileName) throws(SystemError) -> Bool {
        guard try folder.status(of: EndedJob.heldName) != nil,
            let bytes = try folder.contents(of: EndedJob.heldName, limit: EndedJob.heldByteLimit)
        else { return false }
        return bytes.split(separator: 0x0A).contains(Array(name.escaped.utf8)[...])
    }

    /// Returns how a job of this name has ended, by the last line about it after the marks.
    ///
    /// - Parameters:
    ///   - name: The name by which it was dropped.
    ///   - marks: What earlier calls for this name have read in vain; updated.
    /// - Returns: `nil` if no line says so.
    /// - Throws: `SystemError`: a file cannot be read.
    func end(of name: FileName, after marks: inout Marks) throws(SystemError) -> EndedJob? {
        // What has ended last is asked for most.
        for file in try folder.names().filter(EndedJob.isFile).sorted(by: { $1.lexicographicallyPrecedes($0) }) {
            guard let opened = try open(file) else { continue }
            let status = try opened.status()
            var head: [UInt8] = []
            _ = try opened.read(Self.headByteCount, at: 0, appendingTo: &head)
            let mark = marks[status.identity].flatMap { head.starts(with: $0.head) ? $0 : nil }
            let start = mark.map { $0.end <= status.byteCount ? $0.end : 0 } ?? 0
            if let job = try last(of: name, in: opened, from: start, to: status.byteCount) { return job }
            // The last line may not be complete yet.
            marks[status.identity] = Mark(end: max(start, status.byteCount - Self.lineByteLimit), head: head)
        }
        return nil
    }

    private func open(_ file: [UInt8]) throws(SystemError) -> OpenFile? {
        do throws(SystemError) {
            return try folder.openForReading(file)
        } catch {
            // Another one has begun meanwhile.
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Searches a file from its end, because most jobs that are asked for have ended a moment ago.
    private func last(
        of name: FileName, in file: borrowing OpenFile, from start: Int64, to end: Int64
    ) throws(SystemError) -> EndedJob? {
        var end = end
        while end > start {
            // Pieces overlap, so that each line is in one of them as a whole.
            let first = max(start, end - Self.pieceByteCount - Self.lineByteLimit)
            var piece: [UInt8] = []
            _ = try file.read(Int(end - first), at: first, appendingTo: &piece)
            if let job = EndedJob.last(of: name, in: piece, isStart: first == 0) { return job }
            guard first > start else { return nil }
            end = first + Self.lineByteLimit
        }
        return nil
    }
}
