package import LinuxIO

/// A file tree as a power loss may leave it.
package struct CrashState: Sendable {
    indirect enum Entry: Sendable {
        case directory([[UInt8]: Entry])
        case file(Int)
    }

    let root: Entry
    let contents: [Int: [UInt8]]
    /// The files of the traced program, by their inodes there.
    let inodes: [UInt64: Int]

    /// The names in a directory in order, as text; `nil` if there is no such directory.
    package func names(in path: String) -> [String]? {
        guard case .directory(let names) = entry(path) else { return nil }
        return names.keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// The bytes of a file; `nil` if there is none.
    package func bytes(of path: String) -> [UInt8]? {
        guard case .file(let node) = entry(path) else { return nil }
        return contents[node]
    }

    /// Makes it real below an empty directory; a file with two names is one file there too.
    ///
    /// Directories are open to their owner only, files can be written by him.
    ///
    /// - Parameters:
    ///   - directory: the empty directory.
    ///   - file: a file of the traced program, which gets the names and the bytes that it has in this tree.
    /// - Throws: `SystemError` when something cannot be made; an error of Foundation's when `file` cannot be written.
    package func materialize(at directory: Directory, keeping file: KeptFile? = nil) throws {
        var made: [Int: (Directory, [UInt8])] = [:]
        if let file, let node = inodes[file.inode] {
            try file.write(contents[node] ?? [])
            made[node] = (file.directory, file.name)
        }
        try materialize(root, at: directory, &made)
    }

    private func materialize(
        _ entry: Entry, at directory: Directory, _ made: inout [Int: (Directory, [UInt8])]
    ) throws {
        guard case .directory(let names) = entry else { return }
        for (name, entry) in names {
            switch entry {
            case .directory: try materialize(entry, at: try directory.makeChild(name, mode: 0o700), &made)
            case .file(let node):
                if let (other, otherName) = made[node] {
                    try other.link(otherName, to: directory, as: name)
                } else {
                    let file = try directory.create(name, mode: 0o600)
                    try file.write(contents[node] ?? [])
                    made[node] = (directory, name)
                }
            }
        }
    }

    /// Whether it has the same files, by path and bytes.
    package func isSame(as other: CrashState) -> Bool { files(in: root, "") == other.files(in: other.root, "") }

    private func files(in entry: Entry, _ path: String) -> [String: [UInt8]] {
        switch entry {
        case .file(let node): [path: contents[node] ?? []]
        case .directory(let names):
            names.reduce(into: [:]) { found, child in
                let path = path + "/" + String(decoding: child.key, as: UTF8.self)
                found.merge(files(in: child.value, path)) { $1 }
            }
        }
    }

    private func entry(_ path: String) -> Entry? {
        path.split(separator: "/").reduce(root) { entry, name in
            guard case .directory(let names) = entry else { return nil }
            return names[Array(name.utf8)]
        }
    }
}

extension MemoryVolume {
    /// Trees that a power loss may leave now: the first with nothing that was not synced, the second with everything, the
    /// third with all names but no bytes that were not synced, the others with parts of it that depend on `seed`.
    package func crashStates(seed: UInt64, count: Int) -> [CrashState] {
        (0..<count).map { number in
            switch number {
            case 0: state(.nothing)
            case 1: state(.everything)
            case 2: state(.names)
            default: state(.mixed(SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9)))
            }
        }
    }

    /// The tree as programs see it: what the death of a process leaves.
    package var seen: CrashState { state(.everything) }

    /// The trees at the edges of what a power loss may leave now: of the names that were not synced all or none, or, where
    /// they are not in order, all that came and the old ones too; and of the bytes that were not synced all, none, or those of
    /// files that were synced before.
    package var edges: [CrashState] {
        let names: [CrashChance] = order == .ordered ? [.nothing, .everything] : [.nothing, .everything, .arrivals]
        return names.flatMap { names in
            [CrashChance.nothing, .additions, .everything].map { state(names: names, bytes: $0) }
        }
    }

    /// Goes through changes, and calls `body` with trees that a power loss may leave before the first one and behind each.
    ///
    /// - Throws: `Fault` as `apply(_:)`, and what `body` throws.
    package mutating func crash(
        during changes: [FileChange], count: Int, _ body: (_ step: Int, _ state: CrashState) throws -> Void
    ) throws {
        for step in 0...changes.count {
            if step > 0 { try apply(changes[step - 1]) }
            for state in crashStates(seed: UInt64(step), count: count) { try body(step, state) }
        }
    }

    /// Whether programs see the same files in both.
    package func looksLike(_ other: MemoryVolume) -> Bool { state(.everything).isSame(as: other.state(.everything)) }

    private func state(_ chance: CrashChance) -> CrashState { state(names: chance, bytes: nil) }

    /// The tree in which this survives of names and bytes; of bytes, if it is `nil`, what goes with those names.
    private func state(names chance: CrashChance, bytes: CrashChance?) -> CrashState {
        var chance = chance
        // In the order of their numbers, so that a seed means the same every time.
        let nodes = directories.keys.sorted()
        var survivors: [Int: [MemoryDirectory.Step]] = [:]
        for node in nodes { survivors[node] = directories[node]?.survivors(order, &chance) }
        let pending = Set(directories.values.flatMap(\.arrivals))
        let arrived = Set(survivors.values.joined().filter { $0.added != nil }.compactMap(\.move))
        var names: [Int: [[UInt8]: Int]] = [:]
        for node in nodes {
            var left = directories[node]?.safe ?? [:]
            for step in survivors[node] ?? [] {
                // A file leaves its old directory only if it has come to the new one.
                if step.removed != nil, let move = step.move, pending.contains(move), !arrived.contains(move) {
                    continue
                }
                step.apply(to: &left)
            }
            names[node] = left
        }
        chance = bytes ?? chance.ofBytes
        let contents = Dictionary(
            uniqueKeysWithValues: files.keys.sorted().map { ($0, files[$0]?.remains(order, &chance) ?? []) })
        return CrashState(root: tree(0, names), contents: contents, inodes: inodes)
    }

    private func tree(_ node: Int, _ names: [Int: [[UInt8]: Int]]) -> CrashState.Entry {
        guard let children = names[node] else { return .file(node) }
        return .directory(children.mapValues { tree($0, names) })
    }
}
