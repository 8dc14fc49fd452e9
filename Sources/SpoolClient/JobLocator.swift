import LinuxIO

/// Finds out where a job is that was dropped by a name of its own, as `Submission` makes them. Calls block.
public struct JobLocator: Sendable {
    /// Where a job is.
    public enum Place: Hashable, Sendable {
        /// In `new/`: not claimed yet; removing it there cancels it.
        case waiting
        /// In `hold/`: not sent until it is released.
        case held
        /// In `done/`: at least one notification was accepted, and all have an outcome.
        ///
        /// The folder is the UTC day it ended; the result is the file beside it, `nil` when everything was accepted.
        case done(day: String, result: [UInt8]?)
        /// In `failed/`, with the file beside it that says why.
        case failed(day: String, result: [UInt8]?)
    }

    private let app: Directory

    /// Opens the app's folder.
    ///
    /// - Throws: `SpoolClientError`: there is no such app, or we may not look there.
    public init(app: String, spool: String) throws(SpoolClientError) {
        self.app = try translating { () throws(SystemError) in
            try Directory.open(path: spool).openChild(Array(app.utf8))
        }
    }

    /// Looks for the job, newest days first. Costs a look per day that is kept.
    ///
    /// - Returns: `nil` while it is being sent, and when it is nowhere.
    /// - Throws: `SpoolClientError`: a folder cannot be read; `done/` and `failed/` are for their group only.
    public func place(of name: String) throws(SpoolClientError) -> Place? {
        try translating { () throws(SystemError) in
            let name = Array(name.utf8)
            if try isThere(name, in: "new") { return .waiting }
            if try isThere(name, in: "hold") { return .held }
            if let (day, result) = try find(name, in: "done") { return .done(day: day, result: result) }
            if let (day, result) = try find(name, in: "failed") { return .failed(day: day, result: result) }
            return nil
        }
    }

    private func isThere(_ name: [UInt8], in folder: String) throws(SystemError) -> Bool {
        try app.openChild(Array(folder.utf8)).status(of: name) != nil
    }

    private func find(_ name: [UInt8], in folder: String) throws(SystemError) -> (day: String, result: [UInt8]?)? {
        let archive = try app.openChild(Array(folder.utf8))
        for bytes in try archive.names().sorted(by: { $1.lexicographicallyPrecedes($0) }) {
            guard let day = try openDay(bytes, in: archive), try day.status(of: name) != nil else { continue }
            return (String(decoding: bytes, as: UTF8.self), try result(of: name, in: day))
        }
        return nil
    }

    /// A day of an archive; `nil` for what is no folder, or was removed meanwhile: days are not kept for ever.
    private func openDay(_ day: [UInt8], in archive: Directory) throws(SystemError) -> Directory? {
        guard try archive.status(of: day)?.kind == .directory else { return nil }
        do throws(SystemError) {
            return try archive.openChild(day)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    private func result(of name: [UInt8], in day: Directory) throws(SystemError) -> [UInt8]? {
        let result = name + Array(".result.json".utf8)
        guard try day.status(of: result)?.kind == .regular else { return nil }
        return try day.contents(of: result, limit: 64 << 20)
    }
}
