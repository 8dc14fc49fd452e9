import LinuxIO

/// Reads an app's feedback: one JSON object a line, in files that are complete when they are visible.
///
/// Lines come at least once: drop repeats by (`kind`, `id`, `index`). Take the files in order, and remove or move each
/// when its lines are dealt with. Calls block.
///
/// ```swift
/// let reader = try FeedbackReader(app: "weather", spool: "/var/spool/pushspool")
/// for file in try reader.files() {
///     try reader.forEachLine(of: file) { line in print(line) }
///     try reader.remove(file)
/// }
/// ```
public struct FeedbackReader: Sendable {
    private let folder: Directory

    /// Opens the app's `feedback/`.
    ///
    /// - Throws: `SpoolClientError`: there is no such app, or we may not read there.
    public init(app: String, spool: String) throws(SpoolClientError) {
        folder = try translating { () throws(SystemError) in
            try Directory.open(path: spool).openChild(Array(app.utf8)).openChild(Array("feedback".utf8))
        }
    }

    /// The names of the files that are there, oldest first over all nodes. Links, folders and pipes are passed over: the
    /// daemon makes none.
    ///
    /// - Returns: names such as `20261121T083616.123456Z-host-a.jsonl`.
    /// - Throws: `SpoolClientError`: the folder cannot be read.
    public func files() throws(SpoolClientError) -> [String] {
        try translating { () throws(SystemError) in
            var names: [String] = []
            for bytes in try folder.names() {
                guard let name = String(validating: bytes, as: UTF8.self), name.hasSuffix(".jsonl"),
                    !name.hasPrefix("."), try folder.status(of: bytes)?.kind == .regular
                else { continue }
                names.append(name)
            }
            return names.sorted()
        }
    }

    /// Calls `body` for each line of a file, without its end; a long file is read piece by piece. One that is not there
    /// any more has none: another consumer was faster.
    ///
    /// - Throws: `SpoolClientError` when the file cannot be read, or is a link, a folder or a pipe; whatever `body` throws.
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
            // What was pending before had no line end.
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
                return try folder.openRegular(Array(name.utf8))
            } catch {
                guard error.isNotFound else { throw error }
                return nil
            }
        }
    }

    /// Removes a file whose lines are dealt with.
    ///
    /// - Throws: `SpoolClientError`: we may not.
    public func remove(_ file: String) throws(SpoolClientError) {
        _ = try translating { () throws(SystemError) in try folder.unlink(Array(file.utf8)) }
    }

    /// Moves a file whose lines are dealt with to another folder of the same filesystem; replaces none that is there.
    ///
    /// - Throws: `SpoolClientError`: there is no such folder, it has such a file, or we may not.
    public func move(_ file: String, to path: String) throws(SpoolClientError) {
        try translating { () throws(SystemError) in
            let target = try Directory.open(path: path)
            try folder.rename(Array(file.utf8), to: target, as: Array(file.utf8))
        }
    }
}
