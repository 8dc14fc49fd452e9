package import JobFormat
package import JournalModel
package import LinuxIO
package import PushModel
package import SpoolModel

/// The refs of one app's sent jobs: `dedupe/<app>-<day>` in the daemon's own folder, one file a day. Calls block.
///
/// Files are appended to and synced, never changed. When a new file is begun, files older than the window are removed.
/// In a cluster each node records its own jobs, and reads the records of the others. A daemon that works alone reads what
/// nodes of an earlier cluster have recorded.
package final class RefBook {
    private static let folderName = Array("dedupe".utf8)

    private let app: String
    private let state: Directory
    private let window: Duration
    /// The records of this node; `nil` until there is a folder for them.
    private var own: RefShelf?
    /// The records of the other nodes, by node, and the spool in which they are; `nil` for a daemon that works alone.
    private var peers: [String: RefShelf] = [:]
    private var cluster: Spool?
    private var today: RefFile?

    /// Opens the files of earlier runs. Read them with `readOn` before any other call.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - state: The daemon's own folder.
    ///   - window: How long refs count.
    ///   - now: The time of day.
    /// - Throws: `SystemError`: the folder cannot be read, so the sent jobs are unknown.
    package init(
        of app: String, in state: Directory, keeping window: Duration, at now: WallTime
    ) throws(SystemError) {
        (self.app, self.state, self.window) = (app, state, window)
        if try state.status(of: Self.folderName) != nil {
            let folder = try state.openChild(Self.folderName)
            try removeOld(in: folder, at: now)
            own = try RefShelf(of: app, in: folder)
        }
    }

    /// Counts the records of the other nodes on the spool, too. Call it before `readOn`.
    ///
    /// - Parameter spool: The spool.
    /// - Throws: `SystemError`: the folders cannot be read, so the sent jobs are unknown.
    package func follow(nodesOf spool: Spool) throws(SystemError) {
        cluster = spool
        try findPeers()
    }

    /// Reads the next part of the files of earlier runs.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: a file cannot be read, so the sent jobs are unknown.
    package func readOn() throws(SystemError) -> Bool {
        for shelf in shelves where try shelf.readOn() { return true }
        return false
    }

    /// Reads what other nodes have recorded since. Call it once no other node can send a job with the same sign.
    ///
    /// - Throws: `SystemError`: it cannot be read; ask again later.
    package func readNews() throws(SystemError) {
        try findPeers()
        for (node, shelf) in peers {
            do throws(SystemError) {
                try shelf.readNews()
            } catch {
                // Operators remove the folder of a node that they have taken out of service.
                guard error.isNotFound || error.isStale else { throw error }
                peers[node] = nil
            }
        }
    }

    private func findPeers() throws(SystemError) {
        guard let cluster else { return }
        let known = Set(peers.keys).union([cluster.node])
        for peer in try PeerFolder.all(inRoot: cluster.root, besides: known) {
            guard let state = try peer.state(named: Self.folderName) else { continue }
            peers[peer.node] = try RefShelf(of: app, in: state)
        }
    }

    private var shelves: [RefShelf] { (own.map { [$0] } ?? []) + peers.values }

    /// Returns another job with the same sign that was sent within the window.
    ///
    /// - Parameters:
    ///   - sign: The sign.
    ///   - id: The job in question, which is not a duplicate of itself.
    ///   - now: The current time of day.
    /// - Returns: `nil` if there is none.
    /// - Throws: `SystemError`: the records cannot be read; ask again later.
    package func job(
        sentWith sign: JobSign, before id: JobID, at now: WallTime
    ) throws(SystemError) -> SentTwin? {
        let key = RefRecord.key(of: sign)
        for shelf in shelves {
            let found = try shelf.records(of: key).first { record in
                record.key == key && record.job.id != id && now - record.job.endedAt < window
            }
            if let found { return found.job }
        }
        return nil
    }

    /// Returns the sent job of which this file is a copy. Returns `nil` for a file that was itself sent before: it was
    /// put back, not dropped again.
    ///
    /// - Throws: `SystemError`: the records cannot be read; ask again later.
    package func job(like file: FileSign, before id: JobID, at now: WallTime) throws(SystemError) -> SentTwin? {
        let key = RefRecord.key(of: file)
        for shelf in shelves {
            if try shelf.records(of: key).contains(where: { $0.fileKey == key }) { return nil }
        }
        return try job(sentWith: .file(file.sum), before: id, at: now)
    }

    /// Records sent jobs that are not recorded yet, so that the records survive a power loss. A job that continued
    /// after it was held or finished is recorded again with its later end.
    ///
    /// - Throws: `SystemError`: for example ENOSPC or EIO; call again.
    package func keep(_ records: [RefRecord], at now: WallTime) throws(SystemError) {
        var new: [RefRecord] = []
        for record in records {
            if try !isKept(record) { new.append(record) }
        }
        guard !new.isEmpty else { return }
        let file = try self.file(at: now)
        let offsets = try file.append(new.map(\.line))
        for (record, offset) in zip(new, offsets) {
            for key in [record.key, record.fileKey].compactMap(\.self) { own?.note(key, on: file.day, at: offset) }
        }
    }

    private func isKept(_ record: RefRecord) throws(SystemError) -> Bool {
        guard let own else { return false }
        return try own.records(of: record.key).contains { known in
            // Times read from a file are truncated to milliseconds.
            known.key == record.key && known.fileKey == record.fileKey && known.job.id == record.job.id
                && record.job.endedAt - known.job.endedAt < .milliseconds(1)
        }
    }

    // MARK: Files

    /// Returns the file to append to.
    private func file(at now: WallTime) throws(SystemError) -> RefFile {
        let day = now.day
        if let today, today.day == day {
            if try today.isThere() { return today }
            // The file was removed, and its records with it. Later records must be in a new file for the next start to
            // find them.
            own?.remove(day)
        }
        let shelf = try madeShelf()
        let file = try RefFile(shelf.name(of: day), of: day, in: shelf.folder)
        try removeOld(in: shelf.folder, at: now)
        today = file
        return file
    }

    private func madeShelf() throws(SystemError) -> RefShelf {
        if let own, try own.folder.status().linkCount > 0 { return own }
        let made = try state.makeChild(Self.folderName, mode: 0o700)
        if let own {
            own.move(to: made)
            return own
        }
        let shelf = try RefShelf(of: app, in: made)
        own = shelf
        return shelf
    }

    /// Removes the files that are older than the window, of all apps.
    private func removeOld(in folder: Directory, at now: WallTime) throws(SystemError) {
        for name in try folder.names() where name.count > 11 {
            let day = String(decoding: name.suffix(10), as: UTF8.self)
            guard RefIndex.isOver(day, after: window, at: now) else { continue }
            try folder.unlink(name)
            if name == own?.name(of: day) { own?.remove(day) }
        }
    }
}

/// The file of one day, open for appending.
private final class RefFile {
    let day: String
    private let file: OpenFile
    /// The offset of the next line.
    private var end: Int64
    /// Whether the file ends in an incomplete line.
    private var isTorn: Bool

    /// Opens a day's file. Creates it if it does not exist.
    init(_ name: [UInt8], of day: String, in folder: Directory) throws(SystemError) {
        let file = try folder.openForWriting(name, mode: 0o600)
        // Even if the file is not new: the process that created it may have died before this sync.
        try folder.sync(.state)
        let end = try file.status().byteCount
        var last: [UInt8] = []
        if end > 0 { _ = try file.read(1, at: end - 1, appendingTo: &last) }
        (self.day, self.end, isTorn) = (day, end, end > 0 && last != [UInt8(ascii: "\n")])
        self.file = file
    }

    /// Whether the file still has a name.
    func isThere() throws(SystemError) -> Bool { try file.status().linkCount > 0 }

    /// Appends lines and syncs them. Returns the offset of each line.
    func append(_ lines: [[UInt8]]) throws(SystemError) -> [Int64] {
        var bytes: [UInt8] = isTorn ? [UInt8(ascii: "\n")] : []
        var offsets: [Int64] = []
        for line in lines {
            offsets.append(end + Int64(bytes.count))
            bytes += line
        }
        try file.write(bytes, at: end)
        // After a failure the next call writes to the same place.
        try file.syncDraft(.state)
        (end, isTorn) = (end + Int64(bytes.count), false)
        return offsets
    }
}
