import LinuxIO

/// Watches what a configuration is read from: the daemon's file, the apps' files in their folder, and the files of
/// credentials wherever they are, which come and go with the apps.
///
/// Other files may change beside them, such as a log that says that the configuration was read.
struct ConfigurationWatch: Sendable {
    /// What tells of changes; `note` says which of them matter.
    let watch: DirectoryWatch
    /// The daemon's file, and the folder of the apps' files.
    private let file: String
    private let apps: String
    private var tags: [String: Int] = [:]
    /// One folder may go by several paths, and the kernel watches it once.
    private var identities: [FileIdentity: Int] = [:]
    /// The names that matter in a folder, besides those of the apps' files.
    private var names: [String: Set<[UInt8]>]
    private var nextTag = 0

    /// Watches the daemon's file and the folder of the apps' files.
    ///
    /// - Throws: `WatchFault`, `SystemError`: a folder cannot be watched, and changes there would go unnoticed.
    init(of file: String, appsIn apps: String) throws {
        watch = try DirectoryWatch()
        (self.file, self.apps) = (file, apps)
        names = Self.names(of: [file])
        do {
            for folder in folders { try add(folder) }
        } catch {
            watch.stop()
            throw error
        }
    }

    /// Watches these files besides, as far as their folders can be watched, and no others.
    ///
    /// - Returns: Whether a folder is new: what changed in it before was not seen.
    mutating func follow(_ files: Set<String>) -> Bool {
        names = Self.names(of: files.union([file]))
        let wanted = Set(folders)
        for folder in tags.keys where !wanted.contains(folder) { drop(folder) }
        return followAgain()
    }

    /// Tries again to watch folders that could not be, because they were not there.
    ///
    /// - Returns: Whether one can be: what changed in it before was not seen.
    mutating func followAgain() -> Bool {
        var hasNew = false
        for folder in folders where tags[folder] == nil {
            // The loader says what is wrong with a folder that cannot be opened.
            if (try? add(folder)) != nil { hasNew = true }
        }
        return hasNew
    }

    /// Takes note of what was told.
    ///
    /// - Returns: Whether the configuration is to be read again.
    mutating func note(_ notices: [DirectoryWatch.Notice]) -> Bool {
        var isNews = false
        for notice in notices {
            guard case .event(let event) = notice else {
                isNews = true
                continue
            }
            let folders = tags.filter { $0.value == event.tag }.keys
            isNews = isNews || event.isEnd || folders.contains { matters(event.name, in: $0) }
            if event.isEnd { for folder in folders { drop(folder) } }
        }
        return isNews
    }

    /// Ends the watching.
    func stop() { watch.stop() }

    /// What is watched.
    private var folders: [String] { Set(names.keys).union([apps]).sorted() }

    /// The names by their folders.
    private static func names(of files: Set<String>) -> [String: Set<[UInt8]>] {
        var names: [String: Set<[UInt8]>] = [:]
        for file in files {
            let name = Array(ConfigurationFile.name(of: file).utf8)
            names[ConfigurationFile.folder(of: file), default: []].insert(name)
        }
        return names
    }

    /// What mounts a whole folder anew in one step (`..data`) is behind all names in it; and without a name it is the folder
    /// itself, whose rights may be others now.
    private func matters(_ name: [UInt8], in folder: String) -> Bool {
        if name.isEmpty || name.starts(with: [0x2E, 0x2E]) || names[folder]?.contains(name) == true { return true }
        return folder == apps && (ConfigurationFile.isOfApp(name) || ConfigurationFile.isNearlyOfApp(name))
    }

    private mutating func add(_ folder: String) throws {
        let directory = try Directory.open(path: folder)
        let identity = try directory.status().identity
        if identities[identity] == nil {
            nextTag += 1
            try watch.add(directory, tag: nextTag, for: .allChanges)
            identities[identity] = nextTag
        }
        tags[folder] = identities[identity]
    }

    private mutating func drop(_ folder: String) {
        guard let tag = tags.removeValue(forKey: folder), !tags.values.contains(tag) else { return }
        identities = identities.filter { $0.value != tag }
        watch.remove(tag: tag)
    }
}

extension DirectoryWatch.Event {
    /// Whether the watched folder itself has gone from its place.
    fileprivate var isEnd: Bool { !changes.isDisjoint(with: [.selfRemoved, .selfMoved, .unmounted, .ignored]) }
}
