import DoorModel
import LinuxIO
import SpoolInspection
import SpoolStore

/// Hears the lines that daemons tell before they publish them, as soon as the kernel reports them. Those that it misses are
/// published all the same.
///
/// Belongs to a `FeedbackWatch`. Calls block, but `next` waits without blocking.
final class EarlyFeedback {
    private let spool: String
    private let watch: DirectoryWatch
    /// The watched folders of apps, and the apps by the tags of their folders.
    private var folders: [String: (identity: FileIdentity, tag: Int)] = [:]
    private var apps: [Int: String] = [:]
    private var lastTag = 0
    /// The files that are read, by app and name.
    private var files: [String: [[UInt8]: EarlyLines]] = [:]

    /// Watches no folder yet.
    ///
    /// - Throws: `WatchFault`: nothing can be watched.
    init(spool: String) throws(WatchFault) {
        self.spool = spool
        watch = try DirectoryWatch()
    }

    deinit { watch.stop() }

    /// Watches the `feedback/` of each app, also where another folder has taken its place. What cannot be opened is left to
    /// `FeedbackFiles`, which reports it.
    ///
    /// - Throws: `SystemError`: the spool cannot be read; `WatchFault`: a folder cannot be watched.
    func follow() throws {
        let root = try Directory.open(path: spool)
        for app in try QueueListing.apps(in: root) {
            guard let folder = try? root.openChild(Array(app.utf8)).openChild(Array("feedback".utf8)),
                let identity = try? folder.status().identity, folders[app]?.identity != identity
            else { continue }
            if let known = folders.removeValue(forKey: app) {
                watch.remove(tag: known.tag)
                (apps[known.tag], files[app]) = (nil, nil)
            }
            lastTag += 1
            try watch.add(folder, tag: lastTag, for: .files)
            (folders[app], apps[lastTag]) = ((identity, lastTag), app)
        }
    }

    /// Waits for changes; `nil` if there will be none, or the task is cancelled.
    func next() async -> [DirectoryWatch.Notice]? { await watch.next() }

    /// Returns how notifications have ended, by the lines that changes have added.
    ///
    /// - Throws: `SystemError`: a file cannot be read.
    func lines(of notices: [DirectoryWatch.Notice]) throws -> [(app: String, outcome: HeardOutcome)] {
        var heard: [(app: String, outcome: HeardOutcome)] = []
        for notice in notices {
            switch notice {
            // A file may have been replaced. Lines that are read again tell nothing new.
            case .lost: files = [:]
            case .event(let event):
                guard let app = apps[event.tag], FeedbackFolder.isEarly(event.name),
                    !event.changes.isDisjoint(with: [.modified, .movedIn])
                else { continue }
                try read(event.name, of: app, isNew: event.changes.contains(.movedIn), &heard)
            }
        }
        return heard
    }

    private func read(
        _ name: [UInt8], of app: String, isNew: Bool, _ heard: inout [(app: String, outcome: HeardOutcome)]
    ) throws {
        var found: [HeardOutcome] = []
        let note = { (line: JSONLines.Line) in
            guard case .good(let node, _) = line, let outcome = HeardOutcome(node), outcome.id != nil else { return }
            found.append(outcome)
        }
        let known = files[app]?[name]
        try known?.read(note)
        if isNew || known == nil {
            let file = try EarlyLines.open(name, of: Directory.open(path: spool).openChild(Array(app.utf8)))
            try file?.read(note)
            files[app, default: [:]][name] = file
        }
        heard += found.map { (app, $0) }
    }
}
