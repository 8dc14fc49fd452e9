import JobFormat
import LinuxIO
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// The file at a path that should be a folder.
struct FolderFacts: Hashable, Sendable {
    /// The path.
    let path: String
    /// The kind of file; `nil` if there is none or it could not be examined.
    var kind: FileStatus.Kind?
    /// The user id of its owner.
    var owner: UInt32 = 0
    /// The permission bits; of a folder with an access control list, those of its owning group in place of the mask.
    var mode: UInt32 = 0
    /// Whether it has an access control list.
    var hasAccessList = false
    /// The device number of its filesystem.
    var device: UInt64 = 0
    /// Why it could not be examined.
    var refusal: String?

    /// Creates the facts for a path where nothing was found.
    init(path: String) {
        self.path = path
    }

    /// Creates the facts from a file status.
    init(path: String, _ status: FileStatus) {
        self.path = path
        (kind, owner, mode, device) = (status.kind, status.owner, status.mode, status.device)
    }

    /// Examines a path, and follows symbolic links. For folders named in the configuration. Blocks.
    static func behind(_ path: String) -> FolderFacts {
        do throws(SystemError) {
            return FolderFacts(path: path, try Directory.open(path: path).status())
        } catch {
            return FolderFacts(path: path, error)
        }
    }

    /// Examines a name in a folder without following symbolic links, as the daemon does. Blocks.
    static func named(_ name: String, in directory: Directory) -> FolderFacts {
        let path = "\(directory.path)/\(name)"
        do throws(SystemError) {
            guard let status = try directory.status(of: Array(name.utf8)) else { return FolderFacts(path: path) }
            var facts = FolderFacts(path: path, status)
            if facts.isFolder, let list = AccessList(of: Array(name.utf8), in: directory) {
                (facts.mode, facts.hasAccessList) = (status.mode & ~0o070 | list.groupPermissions << 3, true)
            }
            return facts
        } catch {
            return FolderFacts(path: path, error)
        }
    }

    private init(path: String, _ error: SystemError) {
        self.path = path
        if !error.isNotFound { refusal = "\(error)" }
    }

    /// Whether it is a folder.
    var isFolder: Bool { kind == .directory }

    /// The mode in octal, such as `0750`.
    var modeText: String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// The folders of an app.
struct AppFolderFacts: Hashable, Sendable {
    /// The app.
    let app: String
    /// The app's own folder, which does not exist until the daemon creates it.
    let home: FolderFacts
    /// The folders that the daemon creates in it, by name; empty if `home` is not a folder.
    let inner: [String: FolderFacts]
    /// Files in `new/` that are never claimed because their names are not valid for jobs. Incomplete if `new/` has too
    /// many names.
    var ignored: [FileName] = []
    /// Whether there is a job that has not ended, or a folder that may contain one cannot be read.
    var mayHaveJobs = false
    /// Jobs in `new/` that wait and were written last, on a shared filesystem: they may lack an end marker.
    var unmarked: [FileName] = []

    /// The most names in `new/` that are examined.
    private static let nameLimit = 100_000

    /// The folders that the daemon creates, with their modes, in the order in which a job passes through them.
    static let names: [(name: String, mode: String)] = [
        ("tmp", "3770"), ("new", "3770"), ("work", "0700"), ("hold", "0750"), ("done", "0750"), ("failed", "0750"),
        ("feedback", "2750"),
    ]

    /// Examines an app's folders. Blocks.
    static func look(at app: String, in root: Directory) -> AppFolderFacts {
        let home = FolderFacts.named(app, in: root)
        guard home.isFolder, let directory = try? root.openChild(Array(app.utf8)) else {
            return AppFolderFacts(app: app, home: home, inner: [:])
        }
        let inner = names.map { ($0.name, FolderFacts.named($0.name, in: directory)) }
        var facts = AppFolderFacts(app: app, home: home, inner: Dictionary(uniqueKeysWithValues: inner))
        facts.lookAtNames(in: directory)
        facts.lookForJobs(in: directory)
        return facts
    }

    private mutating func lookForJobs(in home: Directory) {
        do throws(SystemError) {
            for folder in ["new", "hold"] {
                var jobs = FolderCount(limit: 1)
                guard try home.status(of: Array(folder.utf8)) != nil else { continue }
                if try jobs.look(at: try home.openChild(Array(folder.utf8)), now: .now) > 0 { mayHaveJobs = true }
            }
            guard try home.status(of: Array("work".utf8)) != nil else { return }
            let work = try home.openChild(Array("work".utf8))
            for node in try work.names() where try work.status(of: node)?.kind == .directory {
                var jobs = FolderCount(limit: 1) { _ in true }
                if try jobs.look(at: try work.openChild(node), now: .now) > 0 { mayHaveJobs = true }
            }
        } catch {
            // Only the daemon's user may read `work/`.
            mayHaveJobs = true
        }
    }

    /// Ignores errors: permission problems are reported for the folder itself.
    private mutating func lookAtNames(in home: Directory) {
        guard let new = try? home.openChild(Array("new".utf8)), var listing = try? new.listing() else { return }
        let isShared = (try? new.filesystemType())?.isShared == true
        for _ in 0..<Self.nameLimit {
            guard let entry = try? listing.next() else { break }
            guard let name = FileName(bytes: entry.name) else { continue }
            if name.mayBeMistaken { ignored.append(name) }
            if isShared, name.isJob, let status = try? new.status(of: name.bytes), status.isUnmarked {
                unmarked.append(name)
            }
        }
        ignored.sort()
        unmarked.sort()
    }
}

extension FileStatus {
    /// Whether the last change of the file was a write, longer ago than jobs usually wait.
    fileprivate var isUnmarked: Bool {
        kind == .regular && byteCount > 0 && modifiedAt == changedAt
            && WallTime.now - WallTime(nanoseconds: changedAt) > .seconds(60)
    }
}
