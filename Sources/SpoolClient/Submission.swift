import LinuxIO

/// Drops jobs for one app so that the daemon sees each whole or not at all.
///
/// A job is written to `tmp/`, synced, renamed into `new/` under a name that nobody else has, and the folder is synced:
/// when a call returns, a power loss cannot take the job any more. Calls block.
///
/// ```swift
/// let weather = try Submission(app: "weather", spool: "/var/spool/pushspool")
/// let name = try weather.submit(Array(json.utf8), name: "storm.json")     // storm-91b6….json
/// ```
public struct Submission: Sendable {
    private let new: Directory
    private let staging: Directory?

    /// Opens the app's folders.
    ///
    /// - Throws: `SpoolClientError`: there is no such app, or we may not use it.
    public init(app: String, spool: String) throws(SpoolClientError) {
        let folder = try translating { () throws(SystemError) in
            try Directory.open(path: spool).openChild(Array(app.utf8))
        }
        new = try translating { () throws(SystemError) in try folder.openChild(Array("new".utf8)) }
        // Whatever keeps us out of it, a hidden name in new/ will do.
        staging = try? folder.openChild(Array("tmp".utf8))
    }

    /// Drops one job.
    ///
    /// - Parameters:
    ///   - bytes: the whole job file.
    ///   - name: what the name begins and ends with; the ending tells the format (`.json`, `.yaml`, `.yml`, `.jsonl`).
    ///     `urgent-` or `bulk-` at the start asks for a lane.
    /// - Returns: the name it was dropped by: 17 characters stand before the ending that make it unique.
    /// - Throws: `SpoolClientError`; nothing was dropped, and the call may be repeated, unless the hint says to look.
    @discardableResult
    public func submit(_ bytes: [UInt8], name: String) throws(SpoolClientError) -> String {
        try submit(chunks: CollectionOfOne(bytes), name: name)
    }

    /// Drops one job that comes in pieces, so that a long one need not be in memory; otherwise as `submit(_:name:)`.
    ///
    /// - Parameters:
    ///   - chunks: the job file's bytes, in order.
    ///   - name: what the name begins and ends with.
    /// - Returns: the name it was dropped by.
    /// - Throws: `SpoolClientError` as `submit(_:name:)`.
    @discardableResult
    public func submit(chunks: some Sequence<[UInt8]>, name: String) throws(SpoolClientError) -> String {
        let unique = try uniqueName(like: name)
        try translating { () throws(SystemError) in
            let staged = try stage(Array(unique.utf8))
            let (folder, name) = (staged.folder, staged.name)
            do throws(SystemError) {
                for chunk in chunks { try staged.file.write(chunk) }
                try staged.file.sync(.submission)
                // A file that is still open for writing would not be taken for whole.
                try staged.file.closeNow()
                try folder.rename(name, to: new, as: Array(unique.utf8))
            } catch {
                // Nobody looks at what stays in tmp/; that it does must not hide what went wrong before.
                _ = try? folder.unlink(name)
                throw error
            }
        }
        try syncPublished(unique)
        return unique
    }

    /// Syncs `new/`. When that fails the job is taken back, so that nothing was dropped; one that was claimed meanwhile
    /// is in the daemon's journal.
    private func syncPublished(_ name: String) throws(SpoolClientError) {
        do throws(SystemError) {
            try new.sync(.submissionFolder)
        } catch {
            let failure = error
            do throws(SystemError) {
                guard try new.unlink(Array(name.utf8)) else { return }
            } catch {
                throw SpoolClientError(
                    "\(failure), and '\(name)' cannot be taken back: \(error)",
                    hint: "look for it in new/ before you submit it again")
            }
            throw SpoolClientError(failure)
        }
    }

    /// Opens a file in `tmp/`, or, where there is none that we may write to, a hidden one in `new/`.
    private func stage(_ name: [UInt8]) throws(SystemError) -> StagedFile {
        do {
            if let staging {
                return StagedFile(folder: staging, name: name, file: try staging.create(name, mode: 0o644))
            }
        } catch {
            guard error.isRefusal else { throw error }
        }
        let hidden = [0x2E] + name
        return StagedFile(folder: new, name: hidden, file: try new.create(hidden, mode: 0o644))
    }
}

private struct StagedFile: ~Copyable {
    let folder: Directory
    let name: [UInt8]
    let file: OpenFile
}

/// The name with 16 random hexadecimal digits before its ending.
private func uniqueName(like name: String) throws(SpoolClientError) -> String {
    let endings = [".json", ".yaml", ".yml", ".jsonl"]
    guard let ending = endings.first(where: name.hasSuffix), !name.hasPrefix("."),
        !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x2F || $0 == 0x7F }), name.utf8.count <= 200,
        name.utf8.count > ending.utf8.count, !name.hasSuffix(".result.json")
    else {
        throw SpoolClientError(
            "'\(name)' is no name for a job",
            hint: "at most 200 bytes, no point first, no slash or control character, and .json, .yaml, .yml or .jsonl "
                + "at the end", isInputFault: true)
    }
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    let random = String(repeating: "0", count: 16 - digits.count) + digits
    return "\(name.dropLast(ending.count))-\(random)\(ending)"
}
