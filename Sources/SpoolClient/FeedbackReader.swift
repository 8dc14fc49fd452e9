import LinuxIO

/// Reads an app's feedback: one JSON object per line, in files that are complete as soon as they are visible.
///
/// Lines are delivered at least once: drop duplicates by (`kind`, `id`, `index`). Process the files in order, and
/// remove or move each one after processing its lines. Calls block.
///
/// ```swift
/// let reader = try FeedbackReader(app: "weather", spool: "/var/spool/pushspool")
/// for file in try reader.files() {
///     try reader.forEachLine(of: file) { line in print(line) }
///     try reader.remove(file)
/// }
/// ```
public struct FeedbackReader: Sendable {
    private let place: AppPlace
    /// The daemon's user, to whom `work/` belongs. Files of other users, except root, may be forged.
    private let owner: UInt32

    /// Finds the app's `feedback/`. Each call reads the folder that has its path then.
    ///
    /// - Throws: `SpoolClientError` if the app does not exist or the folder must not be read.
    public init(app: String, spool: String) throws(SpoolClientError) {
        place = try AppPlace(app: app, spool: spool)
        owner = try translating { [place] () throws(SystemError) in
            let home = try place.open()
            _ = try home.openChild(Array("feedback".utf8))
            if let work = try home.status(of: Array("work".utf8)) { return work.owner }
            return try home.status().owner
        }
    }

    /// Returns the names of the feedback files, oldest first across all nodes. Skips links, folders, pipes and files of
    /// other users than the daemon's and root, which the daemon does not create.
    ///
    /// - Returns: Names such as `20261121T083616.123456Z-host-a.jsonl`.
    /// - Throws: `SpoolClientError` if the folder cannot be read.
    public func files() throws(SpoolClientError) -> [String] {
        try translating { () throws(SystemError) in
            var names: [String] = []
            let folder = try place.open("feedback")
            for bytes in try folder.names() {
                guard let name = String(validating: bytes, as: UTF8.self), name.hasSuffix(".jsonl"),
                    !name.hasPrefix("."), let status = try folder.status(of: bytes), status.kind == .regular,
                    status.owner == owner || status.owner == 0
                else { continue }
                names.append(name)
            }
            return names.sorted()
        }
    }

    /// Calls `body` for each line of a file, without its line end. Reads a long file piece by piece.
    ///
    /// Does nothing if the file no longer exists, because another consumer has taken it.
    ///
    /// - Throws: `SpoolClientError` if the file cannot be read, or is a link, a folder or a pipe; any error that `body`
    ///   throws.
    public func forEachLine(of file: String, _ body: (String) throws -> Void) throws {
        guard let file = try open(file) else { return }
        var offset: Int64 = 0
        var pending: [UInt8] = []
        while true {
            let start = pending.count
            let count = try translating { () throws(SystemError) in
                try file.read(65_536, at: offset, appendingTo: &pending)
            }
            guard count > 0 else { break }
            offset += Int64(count)
            // The bytes pending before this read contain no line end.
            guard let last = pending[start...].lastIndex(of: 0x0A) else { continue }
            for line in pending[..<last].split(separator: 0x0A, omittingEmptySubsequences: false) {
                try body(String(decoding: line, as: UTF8.self))
            }
            pending.removeSubrange(...last)
        }
        if !pending.isEmpty { try body(String(decoding: pending, as: UTF8.self)) }
    }

    private func open(_ name: String) throws(SpoolClientError) -> OpenFile? {
        try translating { () throws(SystemError) in
            do throws(SystemError) {
                return try place.open("feedback").openRegular(Array(name.utf8))
            } catch {
                guard error.isNotFound else { throw error }
                return nil
            }
        }
    }

    /// Removes a file after its lines have been processed.
    ///
    /// - Throws: `SpoolClientError` if the file must not be removed.
    public func remove(_ file: String) throws(SpoolClientError) {
        _ = try translating { () throws(SystemError) in try place.open("feedback").unlink(Array(file.utf8)) }
    }

    /// Moves a file to another folder on the same filesystem after its lines have been processed. Never replaces a file.
    ///
    /// - Throws: `SpoolClientError` if the folder does not exist, already has a file of this name, or must not be written.
    public func move(_ file: String, to path: String) throws(SpoolClientError) {
        try translating { () throws(SystemError) in
            let target = try Directory.open(path: path)
            try place.open("feedback").rename(Array(file.utf8), to: target, as: Array(file.utf8))
        }
    }
}
