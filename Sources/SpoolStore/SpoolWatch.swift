import JobFormat
package import LinuxIO
import SpoolModel

/// Watches a spool's root, its apps and their `new/` folders, while apps come and go.
///
/// Owned by one actor on a worker thread: `next()` waits without blocking, and opens folders in between. The owner must
/// also scan: at startup, on every `.app` and `.everything`, and periodically.
package final class SpoolWatch {
    private enum Role {
        case root
        case app(String)
        case new(String)
    }

    /// How often the kernel's event queue overflowed; an `.everything` follows each time.
    package var overflowCount: Int { watch.overflowCount }

    private let root: Directory
    private let watch: DirectoryWatch
    private var roles: [Int: Role] = [:]
    private var tags: [String: [Int]] = [:]
    private var nextTag = 0

    /// The apps that could not be watched, with the reasons: poll them.
    package private(set) var unwatched: [String: WatchFault] = [:]

    /// The apps that are watched.
    package var watched: Set<String> { Set(tags.keys).subtracting(unwatched.keys) }

    /// The reason why new apps are not noticed, so that the root must be polled; `nil` if the root is watched.
    package private(set) var rootFault: WatchFault?

    /// Watches the root and all apps in it. Scan after this, not before.
    ///
    /// - Throws: `WatchFault` if nothing can be watched (EMFILE): poll everything. `SystemError` if the root cannot be read.
    package init(_ spool: Spool, capacity: Int = 4096) throws {
        root = spool.root
        watch = try DirectoryWatch(capacity: capacity)
        do {
            try watch.add(root, tag: tag(.root), for: .folders)
        } catch {
            rootFault = error
        }
        for app in try root.appNames() { _ = follow(app) }
    }

    /// Waits for a change.
    ///
    /// - Returns: hints in the order of their events, never an empty array; `nil` after `stop()` or when the task is
    ///   cancelled.
    package func next() async -> [SpoolHint]? {
        while let notices = await watch.next() {
            let hints = notices.flatMap(hints)
            if !hints.isEmpty { return hints }
        }
        return nil
    }

    /// Stops watching and ends the thread.
    package func stop() {
        watch.stop()
    }

    private func hints(of notice: DirectoryWatch.Notice) -> [SpoolHint] {
        switch notice {
        case .lost: return followAll() + [.everything]
        case .event(let event):
            switch roles[event.tag] {
            case .root: return rootHints(of: event)
            case .app(let app): return appHints(of: event, in: app)
            case .new(let app): return jobHints(of: event, in: app)
            case nil: return []
            }
        }
    }

    private func rootHints(of event: DirectoryWatch.Event) -> [SpoolHint] {
        guard !event.isOfDirectoryItself else { return [.everything] }
        let name = String(validating: event.name, as: UTF8.self)
        guard let name, AppName.isValid(name), event.changes.contains(.isDirectory) else { return [] }
        return follow(name)
    }

    private func appHints(of event: DirectoryWatch.Event, in app: String) -> [SpoolHint] {
        event.isOfDirectoryItself || Self.lasting.contains(event.name) ? follow(app) : []
    }

    /// The folders that a running app keeps open; see `AppPlaces`.
    private static let lasting = Set(["new", "tmp", "hold", "work"].map { Array($0.utf8) })

    private func jobHints(of event: DirectoryWatch.Event, in app: String) -> [SpoolHint] {
        guard !event.isOfDirectoryItself else { return follow(app) }
        guard let name = FileName(bytes: event.name), let change = SpoolHint.Change(event.changes) else { return [] }
        return [.job(app: app, name: name, change: change)]
    }

    private func followAll() -> [SpoolHint] {
        do {
            let apps = try root.appNames()
            return Set(apps).union(tags.keys).sorted().flatMap(follow)
        } catch {
            // The caller's own scan gets and reports the same error.
            return []
        }
    }

    /// Watches an app's current folders. Replaces earlier watches for this name.
    private func follow(_ app: String) -> [SpoolHint] {
        let wasThere = forget(app)
        do {
            let directory = try root.openChild(Array(app.utf8))
            try add(directory, as: .app(app), for: .folders)
            let new = try directory.openChild(Array("new".utf8))
            try add(new, as: .new(app), for: .files)
        } catch let fault as WatchFault {
            unwatched[app] = fault
        } catch let error as SystemError where !error.isNotFound {
            unwatched[app] = WatchFault(error)
        } catch {
            // The app or its `new/` does not exist: the existing part is watched.
            if tags[app] == nil { return wasThere ? [.appGone(app)] : [] }
        }
        return [.app(app)]
    }

    private func add(_ directory: Directory, as role: Role, for interest: DirectoryWatch.Interest) throws {
        let tag = tag(role)
        do {
            try watch.add(directory, tag: tag, for: interest)
        } catch {
            roles[tag] = nil
            throw error
        }
        switch role {
        case .root: break
        case .app(let app), .new(let app): tags[app, default: []].append(tag)
        }
    }

    private func tag(_ role: Role) -> Int {
        nextTag += 1
        roles[nextTag] = role
        return nextTag
    }

    /// Returns whether the app was known.
    private func forget(_ app: String) -> Bool {
        let wasUnwatched = unwatched.removeValue(forKey: app) != nil
        guard let old = tags.removeValue(forKey: app) else { return wasUnwatched }
        for tag in old {
            roles[tag] = nil
            watch.remove(tag: tag)
        }
        return true
    }
}

extension DirectoryWatch.Event {
    fileprivate var isOfDirectoryItself: Bool { !changes.isDisjoint(with: Self.itself) }

    private static let itself: DirectoryWatch.Changes = [.selfRemoved, .selfMoved, .unmounted, .ignored]
}

extension SpoolHint.Change {
    fileprivate init?(_ changes: DirectoryWatch.Changes) {
        if changes.contains(.movedIn) {
            self = .published
        } else if changes.contains(.closed) {
            self = .closed
        } else if changes.contains(.modified) {
            self = .modified
        } else if changes.contains(.created) {
            self = .created
        } else {
            return nil
        }
    }
}
