import JobFormat
import LinuxIO
import SpoolModel

/// Reads what the daemons let an app's producers know of its jobs: `tmp/.jobs/`. Calls block.
struct NoticeReader {
    /// What was read of each file. A file gets lines at its end only, or keeps them under another name.
    typealias Marks = [FileIdentity: Mark]

    /// What was read of a file.
    struct Mark {
        /// Up to where its lines were read.
        fileprivate var end: Int64 = 0
        /// How the file begins. One that begins otherwise is another, which has got the inode of a removed one.
        fileprivate let head: [UInt8]
        /// The hashes of the names in these lines: about 100,000 in a file of 8 MiB, which take 2 MB.
        fileprivate var names: Set<Int> = []
    }

    /// How many names are remembered; then the files are read anew.
    private static let nameLimit = 1 << 20
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
        let bytes = try folder.contentsIfThere(of: EndedJob.heldName, limit: EndedJob.heldByteLimit)
        return bytes.flatMap { EndedJob.last(of: name, in: $0, isStart: true) } != nil
    }

    /// Returns how a job of this name has ended, by the last line about it.
    ///
    /// - Parameters:
    ///   - name: The name by which it was dropped.
    ///   - marks: What earlier calls have read, also for other names; updated. A name that no line has costs only what is new
    ///     in the files.
    /// - Returns: `nil` if no line says so.
    /// - Throws: `SystemError`: a file cannot be read.
    func end(of name: FileName, with marks: inout Marks) throws(SystemError) -> EndedJob? {
        let (hash, known) = (Array(name.escaped.utf8)[...].hashValue, marks)
        var read: Marks = [:]
        var found: EndedJob?
        // What has ended last is asked for most.
        for file in try folder.names().filter(EndedJob.isFile).sorted(by: { $1.lexicographicallyPrecedes($0) }) {
            guard let opened = try open(file) else { continue }
            let status = try opened.status()
            let mark = try self.mark(of: opened, status, known[status.identity])
            read[status.identity] = mark
            guard found == nil, mark.names.contains(hash) else { continue }
            found = try last(of: name, in: opened, to: mark.end)
        }
        marks = read.values.reduce(0) { $0 + $1.names.count } > Self.nameLimit ? [:] : read
        return found
    }

    /// Reads what is new in a file.
    private func mark(
        of file: borrowing OpenFile, _ status: FileStatus, _ known: Mark?
    ) throws(SystemError) -> Mark {
        var head: [UInt8] = []
        _ = try file.read(Self.headByteCount, at: 0, appendingTo: &head)
        var mark = Mark(head: head)
        if let known, head.starts(with: known.head), known.end <= status.byteCount {
            (mark.end, mark.names) = (known.end, known.names)
        }
        let pieceByteCount = Int(Self.pieceByteCount)
        while mark.end < status.byteCount {
            var piece: [UInt8] = []
            _ = try file.read(pieceByteCount, at: mark.end, appendingTo: &piece)
            // The last line may not be complete yet. A power loss may have left a long hole instead of lines.
            let whole = piece.count < pieceByteCount ? 0 : piece.count
            let lines = piece[..<(piece.lastIndex(of: 0x0A).map { $0 + 1 } ?? whole)]
            guard !lines.isEmpty else { break }
            for line in lines.split(separator: 0x0A) { mark.names.insert(line.prefix { $0 != 0x09 }.hashValue) }
            mark.end += Int64(lines.count)
        }
        return mark
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
        of name: FileName, in file: borrowing OpenFile, to end: Int64
    ) throws(SystemError) -> EndedJob? {
        var end = end
        while end > 0 {
            // Pieces overlap, so that each line is in one of them as a whole.
            let first = max(0, end - Self.pieceByteCount - Self.lineByteLimit)
            var piece: [UInt8] = []
            _ = try file.read(Int(end - first), at: first, appendingTo: &piece)
            if let job = EndedJob.last(of: name, in: piece, isStart: first == 0) { return job }
            guard first > 0 else { return nil }
            end = first + Self.lineByteLimit
        }
        return nil
    }
}
