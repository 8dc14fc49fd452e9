import JobFormat
package import LinuxIO
package import PushModel
package import SpoolModel
import SpoolStore

/// Selects jobs for a command by pattern or age instead of by name.
package struct JobSelection {
    /// The pattern for a job's name or for `app/name`; `nil`: any.
    let pattern: String?
    /// The app; `nil`: any.
    let app: String?
    /// The folders that the command searches.
    let folders: Set<JobReference.Folder>
    /// The latest time at which a job may have come to its folder; `nil`: any time.
    let before: WallTime?

    /// A reference to each selected job, in the order of the apps.
    package private(set) var found: [String] = []
    /// The unreadable folders. The caller must report them, since they may contain more jobs.
    package private(set) var unreadable: [String] = []

    /// Creates a selection; see the properties.
    package init(_ pattern: String?, app: String?, in folders: Set<JobReference.Folder>, before: WallTime?) {
        (self.pattern, self.app, self.folders, self.before) = (pattern, app, folders, before)
    }

    /// Selects the jobs.
    ///
    /// - Throws: `SystemError`: the spool cannot be read.
    package mutating func look(in spool: Directory) throws(SystemError) {
        let apps = if let app { [app] } else { try QueueListing.apps(in: spool) }
        for name in apps {
            try lookAtLive(of: name, in: spool)
            if folders.contains(.failed) { try lookAtArchives(of: name, in: spool) }
        }
    }

    private mutating func lookAtLive(of app: String, in spool: Directory) throws(SystemError) {
        let places: [(folder: JobReference.Folder, state: QueueListing.State)] = [
            (.new, .waiting), (.work, .sending), (.hold, .held),
        ]
        let states = Set(places.filter { folders.contains($0.folder) }.map(\.state))
        guard !states.isEmpty else { return }
        var entries: [QueueListing.Entry] = []
        unreadable += try QueueListing.forEach(of: app, in: spool, only: states) { entry in
            if fits(entry.name, since: entry.since, of: app) { entries.append(entry) }
        }
        found += entries.sorted { ($0.since, $0.name) < ($1.since, $1.name) }.map { entry in
            switch entry.state {
            case .waiting: "\(app)/new/\(entry.name.escaped)"
            case .sending: "\(app)/" + (entry.id?.description ?? entry.name.escaped)
            case .held: "\(app)/hold/\(entry.name.escaped)"
            }
        }
    }

    private mutating func lookAtArchives(of app: String, in spool: Directory) throws(SystemError) {
        let (days, unreadable) = try ArchiveListing.days(of: app, in: spool)
        self.unreadable += unreadable
        for day in days {
            try day.forEachJob { name, status in
                guard fits(name, since: WallTime(nanoseconds: status.changedAt), of: app) else { return }
                found.append(day.path(of: name))
            }
        }
    }

    private func fits(_ name: FileName, since: WallTime, of app: String) -> Bool {
        if let before, since > before { return false }
        guard let pattern else { return true }
        let text = pattern.contains("/") ? "\(app)/\(name.escaped)" : name.escaped
        return text == pattern || Glob.fits(text, pattern)
    }
}

extension Sequence where Element: Hashable {
    /// The distinct elements, in the order of their first occurrence.
    package var once: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
