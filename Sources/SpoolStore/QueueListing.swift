package import JobFormat
package import LinuxIO
package import PushModel

/// The content of an app's `new/`, `work/` and `hold/`, read without a daemon or its lock.
package enum QueueListing {
    /// The state of a job.
    package enum State: String, Hashable, Sendable {
        /// In `new/`, not claimed.
        case waiting
        /// In `work/`.
        case sending
        /// In `hold/`.
        case held
    }

    /// An unfinished job.
    package struct Entry: Hashable, Sendable {
        /// The job's state.
        package let state: State
        /// The name it was dropped by. A very long name may be cut while the job is in `work/`.
        package let name: FileName
        /// The id that a daemon gave it when it claimed it; `nil` if it was not claimed.
        package let id: JobID?
        /// The file's length.
        package let byteCount: Int64
        /// Since when it has been there: the change time of its file.
        package let since: WallTime
        /// The path of its file, relative to the app's folder.
        package let path: [[UInt8]]

        /// The node that has claimed it; `nil` if none has.
        package var node: String? { state == .sending ? String(decoding: path[1], as: UTF8.self) : nil }
    }

    /// Returns the names of the apps that have a folder in a spool, in order.
    ///
    /// - Throws: `SystemError`: the spool cannot be read.
    package static func apps(in spool: Directory) throws(SystemError) -> [String] {
        try spool.appNames()
    }

    /// Lists an app's jobs: waiting ones first, each state ordered by age. Costs a status call for every file.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - spool: its spool.
    ///   - isWanted: selects the jobs for the list; by default all.
    /// - Returns: the jobs, and the folders without read permission: only the daemon may read `work/`.
    /// - Throws: `SystemError`: the app has no folder, or one cannot be read for another reason.
    package static func entries(
        of app: String, in spool: Directory, where isWanted: (Entry) -> Bool = { _ in true }
    ) throws(SystemError) -> (entries: [Entry], unreadable: [String]) {
        var found: [State: [Entry]] = [:]
        let unreadable = try forEach(of: app, in: spool) { entry in
            guard isWanted(entry) else { return }
            found[entry.state, default: []].append(entry)
        }
        let entries = [State.waiting, .sending, .held].flatMap { state in
            (found[state] ?? []).sorted { ($0.since, $0.name) < ($1.since, $1.name) }
        }
        return (entries, unreadable)
    }

    /// Counts the jobs that nodes have claimed, in all apps. Folders without read permission are left out.
    ///
    /// - Parameter spool: The spool.
    /// - Returns: The numbers by node.
    /// - Throws: `SystemError`: a folder cannot be read for another reason.
    package static func claimedCounts(in spool: Directory) throws(SystemError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for app in try apps(in: spool) {
            do throws(SystemError) {
                _ = try forEach(of: app, in: spool, only: [.sending]) { entry in
                    if let node = entry.node { counts[node, default: 0] += 1 }
                }
            } catch {
                // It was removed meanwhile.
                guard error.isNotFound else { throw error }
            }
        }
        return counts
    }

    /// Calls `body` with each of an app's jobs, in no particular order and without storing them.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - spool: its spool.
    ///   - states: which states to list; by default all.
    ///   - body: receives each job.
    /// - Returns: the folders without read permission.
    /// - Throws: `SystemError`: the app has no folder, or one cannot be read for another reason.
    package static func forEach(
        of app: String, in spool: Directory, only states: Set<State> = [.waiting, .sending, .held],
        _ body: (Entry) -> Void
    ) throws(SystemError) -> [String] {
        let home: Directory
        do {
            home = try spool.openChild(Array(app.utf8))
        } catch {
            guard error.isRefusal else { throw error }
            return [app]
        }
        var unreadable: [String] = []
        let places: [(name: String, state: State)] = [("new", .waiting), ("work", .sending), ("hold", .held)]
        for (name, state) in places where states.contains(state) {
            do {
                let folder = try home.openChild(Array(name.utf8))
                try forEach(in: folder, state, [Array(name.utf8)], body)
            } catch {
                // A folder without job folders is not an app's, or not yet.
                if error.isNotFound { continue }
                guard error.isRefusal else { throw error }
                unreadable.append("\(app)/\(name)")
            }
        }
        return unreadable
    }

    private static func forEach(
        in folder: Directory, _ state: State, _ path: [[UInt8]], _ body: (Entry) -> Void
    ) throws(SystemError) {
        guard state != .sending else { return try forEachClaimed(in: folder, path, body) }
        var listing = try folder.listing()
        while let found = try listing.next() {
            guard let name = FileName(bytes: found.name), name.isJob else { continue }
            if let entry = try entry((state, nil), named: name, in: folder, path + [name.bytes]) { body(entry) }
        }
    }

    private static func forEachClaimed(
        in work: Directory, _ path: [[UInt8]], _ body: (Entry) -> Void
    ) throws(SystemError) {
        for node in try work.names() {
            guard try work.status(of: node)?.kind == .directory else { continue }
            let folder = try work.openChild(node)
            for bytes in try folder.names() {
                guard let file = FileName(bytes: bytes), case .job(let id, let name)? = WorkEntry(file) else {
                    continue
                }
                let path = path + [node, file.bytes]
                if let entry = try entry((.sending, id), named: name, in: folder, path) { body(entry) }
            }
        }
    }

    /// Returns `nil` if the file has been removed meanwhile.
    private static func entry(
        _ claim: (state: State, id: JobID?), named name: FileName, in folder: Directory, _ path: [[UInt8]]
    ) throws(SystemError) -> Entry? {
        guard let file = path.last, let status = try folder.status(of: file) else { return nil }
        let since = WallTime(nanoseconds: status.changedAt)
        return Entry(
            state: claim.state, name: name, id: claim.id, byteCount: status.byteCount, since: since, path: path)
    }
}
