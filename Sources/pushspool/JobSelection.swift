import APNSModel
import Document
import LinuxIO
import SpoolModel
import SpoolStore

/// Jobs that a command is about without naming each: all that a pattern fits, or that have been where they are for so long.
struct JobSelection {
    /// What a job's name, or `app/name`, must fit; `nil`: any.
    let pattern: String?
    /// The app; `nil`: any.
    let app: String?
    /// Where the command looks for jobs.
    let folders: Set<JobReference.Folder>
    /// Since when, at the latest, a job must have been where it is; `nil`: any time.
    let before: WallTime?

    /// What names each of the jobs for a command, in the order of the apps, and the folders that we may not read: what is there
    /// is not to be left out in silence.
    private(set) var found: [String] = []
    private(set) var unreadable: [String] = []

    init(_ pattern: String?, app: String?, in folders: Set<JobReference.Folder>, before: WallTime?) {
        (self.pattern, self.app, self.folders, self.before) = (pattern, app, folders, before)
    }

    /// Looks for them.
    ///
    /// - Throws: `SystemError`: the spool cannot be read.
    mutating func look(in spool: Directory) throws(SystemError) {
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
