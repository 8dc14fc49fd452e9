import JobFormat
import LinuxIO
import SpoolModel

/// Locates a job that was dropped under a unique name, such as those that `Submission` creates. Calls block.
///
/// A producer, who may drop jobs and nothing more, is told by `tmp/.jobs/` how the app's last jobs have ended and which are
/// held: at least 8 MiB of lines, of about 100 bytes if everything was accepted.
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
    /// - Throws: `SpoolClientError` if neither the folders nor `tmp/` can be read.
    public func place(of name: String) throws(SpoolClientError) -> Place? {
        var search = Search()
        return try place(of: name, &search)
    }

    /// What earlier searches for jobs of the app have read.
    package struct Search: Sendable {
        fileprivate var marks = NoticeReader.Marks()

        /// Creates a search that has read nothing.
        package init() {}
    }

    /// Does the same again and again, and reads only what is new of the files for producers, except for a job that has ended.
    ///
    /// - Throws: `SpoolClientError`, like `place(of:)`.
    package func place(of name: String, _ search: inout Search) throws(SpoolClientError) -> Place? {
        try translating { () throws(SystemError) in
            let (bytes, app) = (Array(name.utf8), try home.open())
            if try isThere(bytes, in: "new", of: app) { return .waiting }
            do throws(SystemError) {
                if try isThere(bytes, in: "hold", of: app) { return .held }
                for (folder, isDone) in [("done", true), ("failed", false)] {
                    guard let (day, result) = try find(bytes, in: folder, of: app) else { continue }
                    // What producers are told has the reasons, too, but not all of a long result.
                    let isShort = result.map { $0.count <= EndedJob.resultByteLimit } ?? false
                    let told = isShort ? try toldEnd(of: name, app, &search) : nil
                    let best = told?.path == "\(folder)/\(day)/\(name)" ? told?.result : result
                    return isDone ? .done(day: day, result: best) : .failed(day: day, result: best)
                }
                return nil
            } catch {
                guard error.isRefusal else { throw error }
                return try toldPlace(of: name, app, &search)
            }
        }
    }

    private func toldEnd(of name: String, _ app: Directory, _ search: inout Search) throws(SystemError) -> EndedJob? {
        guard let name = FileName(name) else { return nil }
        do throws(SystemError) {
            return try NoticeReader(of: app)?.end(of: name, with: &search.marks)
        } catch {
            // The app's tmp/ was removed, or belongs to others.
            guard error.isNotFound || error.isRefusal else { throw error }
            return nil
        }
    }

    /// Returns the place of a job as its producers may know it.
    private func toldPlace(of name: String, _ app: Directory, _ search: inout Search) throws(SystemError) -> Place? {
        guard let name = FileName(name), let notices = try NoticeReader(of: app) else { return nil }
        if try notices.isHeld(name) { return .held }
        guard let job = try notices.end(of: name, with: &search.marks) else { return nil }
        let parts = job.path.split(separator: "/")
        guard parts.count == 3 else { return nil }
        let (day, result) = (String(parts[1]), job.result)
        return parts[0] == "done" ? .done(day: day, result: result) : .failed(day: day, result: result)
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
