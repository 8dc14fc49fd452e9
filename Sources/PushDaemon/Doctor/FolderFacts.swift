import LinuxIO
import SpoolModel

/// What is in the place of a folder.
struct FolderFacts: Hashable, Sendable {
    /// Where.
    let path: String
    /// What it is; `nil`: nothing, or it could not be seen.
    var kind: FileStatus.Kind?
    /// The user whose it is.
    var owner: UInt32 = 0
    /// The permission bits.
    var mode: UInt32 = 0
    /// The filesystem that it is on.
    var device: UInt64 = 0
    /// Why it could not be seen.
    var refusal: String?

    /// A place about which nothing is known.
    init(path: String) {
        self.path = path
    }

    /// What a status tells.
    init(path: String, _ status: FileStatus) {
        self.path = path
        (kind, owner, mode, device) = (status.kind, status.owner, status.mode, status.device)
    }

    /// Looks at what a path names, behind symbolic links: a folder of the configuration. Blocks.
    static func behind(_ path: String) -> FolderFacts {
        do throws(SystemError) {
            return FolderFacts(path: path, try Directory.open(path: path).status())
        } catch {
            return FolderFacts(path: path, error)
        }
    }

    /// Looks at a name in a folder, and follows no link: the daemon does not either. Blocks.
    static func named(_ name: String, in directory: Directory) -> FolderFacts {
        let path = "\(directory.path)/\(name)"
        do throws(SystemError) {
            guard let status = try directory.status(of: Array(name.utf8)) else { return FolderFacts(path: path) }
            return FolderFacts(path: path, status)
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

    /// The mode as users write it: `0750`.
    var modeText: String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// The folders of an app.
struct AppFolderFacts: Hashable, Sendable {
    /// The app.
    let app: String
    /// Its folder; not there before the daemon has made it.
    let home: FolderFacts
    /// What is in it, by the names that the daemon knows: none if there is no folder.
    let inner: [String: FolderFacts]
    /// Files in `new/` that are never taken, because no job has such names; not all of a crowd.
    var ignored: [FileName] = []

    /// How many names of `new/` are looked at.
    private static let nameLimit = 100_000

    /// The names that the daemon makes, with their modes, in the order in which a job goes through them.
    static let names: [(name: String, mode: String)] = [
        ("tmp", "3770"), ("new", "3770"), ("work", "0700"), ("hold", "0750"), ("done", "0750"), ("failed", "0750"),
        ("feedback", "2750"),
    ]

    /// Looks at an app's folders. Blocks.
    static func look(at app: String, in root: Directory) -> AppFolderFacts {
        let home = FolderFacts.named(app, in: root)
        guard home.isFolder, let directory = try? root.openChild(Array(app.utf8)) else {
            return AppFolderFacts(app: app, home: home, inner: [:])
        }
        let inner = names.map { ($0.name, FolderFacts.named($0.name, in: directory)) }
        var facts = AppFolderFacts(app: app, home: home, inner: Dictionary(uniqueKeysWithValues: inner))
        facts.lookAtNames(in: directory)
        return facts
    }

    /// What may not be seen is said of the folder itself.
    private mutating func lookAtNames(in home: Directory) {
        guard var listing = try? home.openChild(Array("new".utf8)).listing() else { return }
        for _ in 0..<Self.nameLimit {
            guard let entry = try? listing.next() else { break }
            if let name = FileName(bytes: entry.name), name.mayBeMistaken { ignored.append(name) }
        }
        ignored.sort()
    }
}
