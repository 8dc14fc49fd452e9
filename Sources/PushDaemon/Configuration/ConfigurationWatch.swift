import LinuxIO

/// Watches what a configuration is read from: whole folders, which must be there, and the files of credentials wherever
/// they are, which come and go with the apps.
struct ConfigurationWatch: Sendable {
    /// What tells of changes; `note` says which of them matter.
    let watch: DirectoryWatch
    private let whole: Set<String>
    private var tags: [String: Int] = [:]
    /// One folder may go by several paths, and the kernel watches it once.
    private var identities: [FileIdentity: Int] = [:]
    /// The names that matter in a folder.
    private var names: [String: Set<[UInt8]>] = [:]
    private var nextTag = 0

    /// Watches whole folders.
    ///
    /// - Throws: `WatchFault`, `SystemError`: one cannot be watched, and changes there would go unnoticed.
    init(over folders: Set<String>) throws {
        watch = try DirectoryWatch()
        whole = folders
        do {
            for folder in folders.sorted() { try add(folder) }
        } catch {
            watch.stop()
            throw error
        }
    }

    /// Watches these files besides, as far as their folders can be watched, and no others.
    ///
    /// - Returns: Whether a folder is new: what changed in it before was not seen.
    mutating func follow(_ files: Set<String>) -> Bool {
        names = [:]
        for file in files {
            let name = Array(ConfigurationFile.name(of: file).utf8)
            names[ConfigurationFile.folder(of: file), default: []].insert(name)
        }
        for folder in tags.keys where !whole.contains(folder) && names[folder] == nil { drop(folder) }
        var hasNew = false
        for folder in whole.union(names.keys).sorted() where tags[folder] == nil {
            // The loader says what is wrong with a folder that cannot be opened; the next change tries again.
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

    /// What mounts a whole folder anew in one step (`..data`) is behind all names in it.
    private func matters(_ name: [UInt8], in folder: String) -> Bool {
        whole.contains(folder) || names[folder]?.contains(name) == true || name.starts(with: [0x2E, 0x2E])
    }

    private mutating func add(_ folder: String) throws {
        let directory = try Directory.open(path: folder)
        let identity = try directory.status().identity
        if identities[identity] == nil {
            nextTag += 1
            try watch.add(directory, tag: nextTag, for: .files)
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
