package import APNSModel
package import LinuxIO
package import SpoolModel

/// What lies in an app's `new/`, `work/` and `hold/`, by a look from outside: neither a daemon nor its lock is needed.
package enum QueueListing {
    /// Where a job is.
    package enum State: String, Hashable, Sendable {
        /// In `new/`, claimed by nobody.
        case waiting
        /// In `work/`.
        case sending
        /// In `hold/`.
        case held
    }

    /// A job that is not over.
    package struct Entry: Hashable, Sendable {
        /// Where it is.
        package let state: State
        /// The name it was dropped by; of one in `work/` it may be cut, if it is very long.
        package let name: FileName
        /// The name that a daemon has given it, if one has claimed it.
        package let id: JobID?
        /// Its length.
        package let byteCount: Int64
        /// Since when it has been there: its file's change time.
        package let since: WallTime
        /// Its file's path from the app's folder on.
        package let path: [[UInt8]]
    }

    /// The names of the apps that have a folder in a spool, in order.
    ///
    /// - Throws: `SystemError`: the spool cannot be read.
    package static func apps(in spool: Directory) throws(SystemError) -> [String] {
        try spool.appNames()
    }

    /// Lists an app's jobs, those that wait first, and each place by age. Costs a look at every file.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - spool: its spool.
    ///   - isWanted: says of each job whether it is to be in the list; all are if it is left out.
    /// - Returns: the jobs, and the folders that we may not read: `work/` is the daemon's alone.
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

    /// Calls `body` with each of an app's jobs, in no order and without keeping them.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - spool: its spool.
    ///   - states: where to look; everywhere if it is left out.
    ///   - body: gets each job.
    /// - Returns: the folders that we may not read.
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
                // A folder without it is no app's, or not yet.
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

    /// `nil` if it has gone meanwhile.
    private static func entry(
        _ claim: (state: State, id: JobID?), named name: FileName, in folder: Directory, _ path: [[UInt8]]
    ) throws(SystemError) -> Entry? {
        guard let file = path.last, let status = try folder.status(of: file) else { return nil }
        let since = WallTime(nanoseconds: status.changedAt)
        return Entry(
            state: claim.state, name: name, id: claim.id, byteCount: status.byteCount, since: since, path: path)
    }
}
