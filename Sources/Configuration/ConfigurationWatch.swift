package import LinuxIO

/// Watches the files of the configuration: the daemon's file, the apps' files in their folder, and the files of
/// credentials, wherever they are. Credential files are added and removed as the apps change.
///
/// Changes to other files in the same folders are ignored, for example to a log that records each reload.
package struct ConfigurationWatch: Sendable {
    /// The source of notices; `note` decides which of them matter.
    package let watch: DirectoryWatch
    /// The daemon's file, and the folder of the apps' files.
    private let file: String
    private let apps: String
    private var tags: [String: Int] = [:]
    /// The tags by folder identity: one folder may have several paths, but the kernel watches it once.
    private var identities: [FileIdentity: Int] = [:]
    /// The file names that matter in each folder, in addition to the apps' files.
    private var names: [String: Set<[UInt8]>]
    private var nextTag = 0

    /// Watches the daemon's file and the folder of the apps' files.
    ///
    /// - Throws: `WatchFault`, `SystemError`: a folder cannot be watched, and changes in it would go unnoticed.
    package init(of file: String, appsIn apps: String) throws {
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

    /// Watches these files in addition, if their folders can be watched, and stops watching all others.
    ///
    /// - Returns: Whether a folder was added. Earlier changes in it were not seen.
    package mutating func follow(_ files: Set<String>) -> Bool {
        names = Self.names(of: files.union([file]))
        let wanted = Set(folders)
        for folder in tags.keys where !wanted.contains(folder) { drop(folder) }
        return followAgain()
    }

    /// Tries again to watch folders that could not be watched before, for example because they did not exist.
    ///
    /// - Returns: Whether a folder was added. Earlier changes in it were not seen.
    package mutating func followAgain() -> Bool {
        var hasNew = false
        for folder in folders where tags[folder] == nil {
            // The loader reports folders that cannot be opened.
            if (try? add(folder)) != nil { hasNew = true }
        }
        return hasNew
    }

    /// Processes notices from `watch`.
    ///
    /// - Returns: Whether to read the configuration again.
    package mutating func note(_ notices: [DirectoryWatch.Notice]) -> Bool {
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

    /// Stops watching.
    package func stop() { watch.stop() }

    /// The folders to watch.
    private var folders: [String] { Set(names.keys).union([apps]).sorted() }

    /// Groups file names by their folder.
    private static func names(of files: Set<String>) -> [String: Set<[UInt8]>] {
        var names: [String: Set<[UInt8]>] = [:]
        for file in files {
            let place = FilePlace(file)
            names[place.directory, default: []].insert(place.nameBytes)
        }
        return names
    }

    /// Some mounts replace all files of a folder in one step by renaming `..data`, so this name affects every file. An
    /// empty name means the folder itself, whose permissions may have changed.
    private func matters(_ name: [UInt8], in folder: String) -> Bool {
        if name.isEmpty || name.starts(with: [0x2E, 0x2E]) || names[folder]?.contains(name) == true { return true }
        let isOfApp = ConfigurationFile.isOfApp(name) || ConfigurationFile.isNearlyOfApp(name)
        return folder == apps && (isOfApp || ChannelFile.isName(name))
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
    /// Whether the watched folder itself was removed, moved or unmounted.
    fileprivate var isEnd: Bool { !changes.isDisjoint(with: [.selfRemoved, .selfMoved, .unmounted, .ignored]) }
}
