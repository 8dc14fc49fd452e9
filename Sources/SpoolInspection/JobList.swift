import Document
package import JobFormat
import JournalModel
package import LinuxIO
package import PushModel
package import SpoolModel
package import SpoolStore

/// The unfinished jobs of an app, from the folders and from the daemon's status.
package struct JobList {
    /// A job in the list.
    package struct Row {
        let app: String
        /// The state in words: waiting, sending, held, done or failed.
        package let state: String
        let name: String
        let id: JobID?
        /// The node that has claimed it; `nil` if none has, or it is unknown.
        package let node: String?
        let byteCount: Int64?
        /// Since when it has been in its folder; `nil` if that is unknown.
        package let since: WallTime?
        let progress: SpoolStatus.Job?

        /// Creates the row of a job in a folder.
        package init(_ app: String, _ entry: QueueListing.Entry, _ progress: SpoolStatus.Job?) {
            (self.app, state, id, since) = (app, entry.state.rawValue, entry.id ?? progress?.id, entry.since)
            node = entry.node
            (byteCount, self.progress) = (entry.byteCount, progress)
            // Prefer the full name in the daemon's status.
            name = progress?.name ?? "\(entry.name)"
        }

        /// Creates the row of a job known only from the daemon's status.
        package init(_ app: String, _ job: SpoolStatus.Job) {
            (self.app, state, name, id) = (app, QueueListing.State.sending.rawValue, job.name, job.id)
            (byteCount, since, progress, node) = (nil, nil, job, nil)
        }

        /// Creates the row of an archived job.
        package init(_ app: String, _ day: ArchiveListing.Day, _ name: FileName, _ status: FileStatus) {
            (self.app, state, self.name) = (app, day.folder.rawValue, name.escaped)
            (id, progress, byteCount, node) = (nil, nil, status.byteCount, nil)
            since = WallTime(nanoseconds: status.changedAt)
        }

        /// The cells of a table: app, state, age, bytes, job, progress.
        package var cells: [String] {
            let age = since.map { (WallTime(nanoseconds: WallClock.nanoseconds()) - $0).inWords }
            return [
                app, state, age ?? "", byteCount.map(String.init) ?? "", name, progress?.inWords ?? "",
            ]
        }

        /// The row as one JSON object and a line feed.
        package var json: [UInt8] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("app", app)
            writer.member("state", state)
            writer.member("job", name)
            writer.member("id", id?.description)
            writer.member("node", node)
            writer.member("since", since?.rfc3339)
            writer.member("reason", progress?.reason)
            let remaining = progress?.remaining.map { Int($0.components.seconds) }
            let numbers: [(String, Int?)] = [
                ("bytes", byteCount.map { Int($0) }), ("count", progress?.count), ("settled", progress?.settledCount),
                ("rate", progress?.rate), ("remaining_s", remaining),
            ]
            for case (let key, let number?) in numbers { writer.member(key, number) }
            writer.endObject()
            return writer.bytes + [UInt8(ascii: "\n")]
        }
    }

    /// The jobs.
    package private(set) var rows: [Row]
    /// The folders without read permission.
    package let unreadable: [String]
    /// The number of active jobs that only those folders show.
    package private(set) var hiddenCount = 0

    /// Lists the waiting, active and held jobs of an app.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - root: The spool.
    ///   - status: The app's status from each node, for progress.
    ///   - isWanted: Whether a job belongs in the list.
    /// - Throws: `SystemError`: a folder cannot be read, for a reason other than permissions.
    package init(
        of app: String, in root: Directory, _ status: [SpoolStatus.App], where isWanted: (FileName?, JobID?) -> Bool
    ) throws(SystemError) {
        let (entries, unreadable) = try QueueListing.entries(of: app, in: root) { isWanted($0.name, $0.id) }
        var progress: [JobID: SpoolStatus.Job] = [:]
        for job in status.flatMap(\.progress) { progress[job.id] = job }
        let hold = try entries.contains { $0.state == .held } ? Self.hold(of: app, in: root) : nil
        rows = try entries.map { (entry) throws(SystemError) -> Row in
            let known = entry.id.flatMap { progress.removeValue(forKey: $0) }
            guard known == nil else { return Row(app, entry, known) }
            return Row(app, entry, try Self.progress(of: entry, in: hold))
        }
        self.unreadable = unreadable
        guard !unreadable.isEmpty else { return }
        rows += progress.values.filter { isWanted(FileName(escaped: $0.name), $0.id) }
            .sorted { $0.id.bits < $1.id.bits }.map { Row(app, $0) }
        let shown = rows.filter { $0.state == QueueListing.State.sending.rawValue }.count
        hiddenCount = max(0, status.reduce(0) { $0 + $1.jobCount } - shown)
    }

    private static func hold(of app: String, in root: Directory) throws(SystemError) -> Directory {
        try root.openChild(Array(app.utf8)).openChild(Array("hold".utf8))
    }

    /// The progress of a held job, if a part of it was sent.
    private static func progress(
        of entry: QueueListing.Entry, in hold: Directory?
    ) throws(SystemError) -> SpoolStatus.Job? {
        guard entry.state == .held, let hold, let sent = try RemainderFile.beside(entry.name, in: hold)?.remainder.sent
        else {
            return nil
        }
        let settledCount = sent.count - sent.progress.remaining.count
        return SpoolStatus.Job(name: "\(entry.name)", id: sent.id, count: sent.count, settledCount: settledCount)
    }
}

extension AgeShape.Row {
    /// The row as one JSON object and a line feed.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", app)
        writer.member("total", total)
        writer.key("minutes")
        writer.beginObject()
        for (column, count) in zip(AgeShape.columns, counts) { writer.member(column, count) }
        writer.endObject()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
