package import LinuxIO

/// A file tree that keeps apart what a program sees and what a power loss leaves.
///
/// Fed with the changes that a traced program made, it can be asked at any point which trees might be found after a
/// loss of power there. It allows what ext4, xfs and btrfs were seen to do, and somewhat more:
///
/// - A file's bytes are safe once it is synced; until then any part of what was written may be missing or zeros.
/// - A name is safe once its directory is synced; until then it may be there or not.
/// - A rename to another directory may show in both, or in the old one only.
package struct MemoryVolume: Sendable {
    /// How far changes that are not synced stay in order.
    package enum Order: String, Hashable, Sendable, CaseIterable {
        /// Names in one directory appear in order, and bytes in one file; a rename is never lost.
        case ordered
        /// Names appear in any order, and the sectors of a file. Syncing only the directory that a file was moved from
        /// loses it, as older btrfs did.
        case loose
    }

    /// A change that this tree cannot have gone through.
    package struct Fault: Error, Hashable, Sendable {
        /// The change.
        package let change: FileChange
        /// What is not there.
        package let missing: String
    }

    let order: Order
    var directories: [Int: MemoryDirectory] = [0: MemoryDirectory()]
    var files: [Int: MemoryFile] = [:]
    private(set) var inodes: [UInt64: Int] = [:]
    private var lastNode = 0
    private var lastMove = 0
    private let path: String

    /// An empty tree in place of the directory at `path`, as the traced program spells it.
    package init(at path: String, order: Order) {
        self.path = path
        self.order = order
    }

    /// The tree that is really there, all of it safe but for the bytes of some.
    ///
    /// - Parameters:
    ///   - directory: its root.
    ///   - order: what a loss of power may do to it.
    ///   - unsynced: the directories, by their paths in the tree, whose files nobody has synced.
    /// - Throws: `SystemError`: it cannot be read.
    package init(copying directory: Directory, order: Order, unsynced: Set<String> = []) throws {
        self.init(at: directory.path, order: order)
        var late: [(node: Int, bytes: [UInt8])] = []
        let paths = Set(unsynced.map { directory.path + "/" + $0 })
        try copy(directory, to: 0, unsynced: paths, &late)
        syncAll()
        for (node, bytes) in late { files[node]?.write(bytes, at: 0) }
    }

    /// Adds a file that the traced program did not make; safe if its producer synced it.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - directory: the path of its directory, which must be there.
    ///   - bytes: what is in it.
    ///   - isSafe: whether file and name are synced.
    /// - Throws: `Fault`: there is no such directory.
    package mutating func put(_ name: String, in directory: String, _ bytes: [UInt8], isSafe: Bool) throws(Fault) {
        let change = FileChange.created(directory: directory, name: Array(name.utf8), file: 0)
        let parent = try node(directory, change)
        let node = makeNode()
        files[node] = MemoryFile()
        files[node]?.write(bytes, at: 0)
        directories[parent]?.add(Array(name.utf8), node)
        guard isSafe else { return }
        files[node]?.sync()
        directories[parent]?.sync()
    }

    /// Goes through changes in their order.
    ///
    /// - Throws: `Fault`: a file or directory is not there; the tree did not begin as the program found it.
    package mutating func apply(_ changes: some Sequence<FileChange>) throws(Fault) {
        for change in changes { try apply(change) }
    }

    /// Goes through one change.
    ///
    /// - Throws: `Fault` as `apply(_:)` of several.
    package mutating func apply(_ change: FileChange) throws(Fault) {
        switch change {
        case .madeDirectory(let directory, let name):
            let parent = try node(directory, change)
            let child = makeNode()
            directories[child] = MemoryDirectory()
            directories[parent]?.add(name, child)
        case .created(let directory, let name, let inode):
            let parent = try node(directory, change)
            let child = makeNode()
            (files[child], inodes[inode]) = (MemoryFile(), child)
            directories[parent]?.add(name, child)
        case .opened(let directory, let name, let inode):
            // Only a file has bytes to follow; what was opened by mistake has none.
            let child = try self.child(name, of: directory, change)
            if files[child] != nil { inodes[inode] = child }
        case .removed(let directory, let name):
            let (parent, child) = (try node(directory, change), try child(name, of: directory, change))
            directories[parent]?.remove(name, child)
        case .renamed(let directory, let name, let target, let newName):
            try move(change, from: (directory, name), to: (target, newName))
        case .linked(let directory, let name, let target, let newName):
            let (child, parent) = (try child(name, of: directory, change), try node(target, change))
            directories[parent]?.add(newName, child)
        case .written(let inode, let offset, let bytes):
            let file = try file(inode, change)
            files[file]?.write(bytes, at: Int(offset))
        case .allocated(let inode, let count):
            let file = try file(inode, change)
            files[file]?.extend(to: Int(count))
        case .punched(let inode, let offset, let count):
            let file = try file(inode, change)
            files[file]?.clear(Int(offset)..<Int(offset + count))
        case .syncedFile(let inode):
            let file = try file(inode, change)
            files[file]?.sync()
        case .syncedDirectory(let directory): sync(try node(directory, change))
        case .syncedAll: syncAll()
        }
    }

    private mutating func move(
        _ change: FileChange, from old: (directory: String, name: [UInt8]), to new: (directory: String, name: [UInt8])
    ) throws(Fault) {
        let (source, target) = (try node(old.directory, change), try node(new.directory, change))
        let child = try child(old.name, of: old.directory, change)
        guard source != target else {
            directories[source]?.rename(old.name, child, to: new.name)
            return
        }
        lastMove += 1
        directories[target]?.add(new.name, child, move: lastMove)
        directories[source]?.remove(old.name, child, move: lastMove)
    }

    private mutating func sync(_ directory: Int) {
        if order == .ordered {
            // The removal is in the journal of the filesystem with the arrival, or after it.
            let moves = directories[directory]?.departures ?? []
            for (other, entry) in directories where entry.arrivals.contains(where: moves.contains) {
                directories[other]?.sync()
            }
        }
        directories[directory]?.sync()
    }

    private mutating func syncAll() {
        for node in files.keys { files[node]?.sync() }
        for node in directories.keys { directories[node]?.sync() }
    }

    private mutating func copy(
        _ directory: Directory, to node: Int, unsynced: Set<String>, _ late: inout [(node: Int, bytes: [UInt8])]
    ) throws {
        for name in try directory.names() {
            guard let status = try directory.status(of: name) else { continue }
            let child = makeNode()
            if status.kind == .directory {
                directories[child] = MemoryDirectory()
                try copy(try directory.openChild(name), to: child, unsynced: unsynced, &late)
            } else {
                (files[child], inodes[status.inode]) = (MemoryFile(), child)
                let bytes = try directory.contents(of: name, limit: 1 << 30) ?? []
                if unsynced.contains(directory.path) {
                    late.append((child, bytes))
                } else {
                    files[child]?.write(bytes, at: 0)
                }
            }
            directories[node]?.add(name, child)
        }
    }

    private mutating func makeNode() -> Int {
        lastNode += 1
        return lastNode
    }

    private func node(_ directory: String, _ change: FileChange) throws(Fault) -> Int {
        guard directory.hasPrefix(path) else { throw Fault(change: change, missing: directory) }
        var node = 0
        for name in directory.dropFirst(path.count).split(separator: "/") {
            guard let next = directories[node]?.now[Array(name.utf8)], directories[next] != nil else {
                throw Fault(change: change, missing: directory)
            }
            node = next
        }
        return node
    }

    private func child(_ name: [UInt8], of directory: String, _ change: FileChange) throws(Fault) -> Int {
        guard let child = directories[try node(directory, change)]?.now[name] else {
            throw Fault(change: change, missing: directory + "/" + String(decoding: name, as: UTF8.self))
        }
        return child
    }

    private func file(_ inode: UInt64, _ change: FileChange) throws(Fault) -> Int {
        guard let node = inodes[inode] else { throw Fault(change: change, missing: "inode \(inode)") }
        return node
    }
}
