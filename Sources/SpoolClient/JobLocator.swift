import LinuxIO

/// Locates a job that was dropped under a unique name, such as those that `Submission` creates. Calls block.
public struct JobLocator: Sendable {
    /// The location of a job.
    public enum Place: Hashable, Sendable {
        /// In `new/`: not claimed yet. Removing the file cancels the job.
        case waiting
        /// In `hold/`: not sent until it is released.
        case held
        /// In `done/`: every notification has an outcome, and at least one was accepted.
        ///
        /// `day` is the name of the folder, the UTC day on which the job ended. `result` is the contents of the job's
        /// result file, or `nil` if every notification was accepted.
        case done(day: String, result: [UInt8]?)
        /// In `failed/`, with the contents of the result file, which gives the reason.
        case failed(day: String, result: [UInt8]?)
    }

    private let home: AppPlace

    /// Finds the app's folder.
    ///
    /// - Throws: `SpoolClientError` if the app does not exist or its folder must not be read.
    public init(app: String, spool: String) throws(SpoolClientError) {
        home = try AppPlace(app: app, spool: spool)
    }

    /// Locates the job, in the archives newest day first. Costs a lookup per archived day.
    ///
    /// - Returns: `nil` while the job is being sent, and if it was not found.
    /// - Throws: `SpoolClientError` if a folder cannot be read. Only members of their group may read `done/` and `failed/`.
    public func place(of name: String) throws(SpoolClientError) -> Place? {
        try translating { () throws(SystemError) in
            let (name, app) = (Array(name.utf8), try home.open())
            if try isThere(name, in: "new", of: app) { return .waiting }
            if try isThere(name, in: "hold", of: app) { return .held }
            if let (day, result) = try find(name, in: "done", of: app) { return .done(day: day, result: result) }
            if let (day, result) = try find(name, in: "failed", of: app) { return .failed(day: day, result: result) }
            return nil
        }
    }

    private func isThere(_ name: [UInt8], in folder: String, of app: Directory) throws(SystemError) -> Bool {
        try app.openChild(Array(folder.utf8)).status(of: name) != nil
    }

    private func find(
        _ name: [UInt8], in folder: String, of app: Directory
    ) throws(SystemError) -> (day: String, result: [UInt8]?)? {
        let archive = try app.openChild(Array(folder.utf8))
        for bytes in try archive.names().sorted(by: { $1.lexicographicallyPrecedes($0) }) {
            guard let day = try openDay(bytes, in: archive), try day.status(of: name) != nil else { continue }
            return (String(decoding: bytes, as: UTF8.self), try result(of: name, in: day))
        }
        return nil
    }

    /// Opens a day folder of an archive. Returns `nil` if it is not a folder or was removed in the meantime, because
    /// days expire.
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
