import LinuxIO
import TestSupport
import Testing

/// What `spool.md` and the manual say of filesystems after a power loss, asked of the model.
@Suite struct MemoryVolumeTests {
    private static let names: [FileChange] = ["new", "work"].map {
        .madeDirectory(directory: "/v", name: Array($0.utf8))
    }
    private static let begin: [FileChange] = names + [.syncedDirectory("/v")]
    private static let write: [FileChange] = [
        .created(directory: "/v/new", name: name, file: 7),
        .written(file: 7, offset: 0, bytes: [UInt8](repeating: 0x61, count: 2000)),
    ]
    private static let name = Array("a".utf8)
    private static let claim = FileChange.renamed(
        directory: "/v/new", name: name, toDirectory: "/v/work", newName: name)

    private func states(_ changes: [FileChange], _ order: MemoryVolume.Order, count: Int = 200) throws -> [CrashState] {
        var volume = MemoryVolume(at: "/v", order: order)
        try volume.apply(Self.begin + changes)
        return volume.crashStates(seed: 1, count: count)
    }

    private func places(_ states: [CrashState]) -> Set<String> {
        Set(states.map { "\($0.names(in: "new") ?? []) \($0.names(in: "work") ?? [])" })
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `a synced file in a synced directory is always there`(order: MemoryVolume.Order) throws {
        let states = try states(Self.write + [.syncedFile(7), .syncedDirectory("/v/new")], order)
        #expect(states.allSatisfy { $0.bytes(of: "new/a")?.count == 2000 })
        #expect(places(states) == [#"["a"] []"#])
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `a name may be safe before its bytes are`(order: MemoryVolume.Order) throws {
        let states = try states(Self.write + [.syncedDirectory("/v/new")], order)
        #expect(states[0].bytes(of: "new/a") == [])
        #expect(states[1].bytes(of: "new/a")?.count == 2000)
        #expect(states.contains { $0.bytes(of: "new/a")?.contains(0) == true })
        #expect(states.contains { ($0.bytes(of: "new/a") ?? []).count % 2000 > 0 })
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `a file that was only written may be anywhere or nowhere`(order: MemoryVolume.Order) throws {
        #expect(places(try states(Self.write, order)) == [#"[] []"#, #"["a"] []"#])
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `a claim of which only the new directory is synced may show in both`(order: MemoryVolume.Order) throws {
        let safe = Self.write + [.syncedFile(7), .syncedDirectory("/v/new"), Self.claim]
        #expect(places(try states(safe, order)) == [#"["a"] []"#, #"["a"] ["a"]"#, #"[] ["a"]"#])
        #expect(places(try states(safe + [.syncedDirectory("/v/work")], order)) == [#"["a"] ["a"]"#, #"[] ["a"]"#])
        let both = safe + [.syncedDirectory("/v/work"), .syncedDirectory("/v/new")]
        #expect(places(try states(both, order)) == [#"[] ["a"]"#])
    }

    @Test func `at the edges all names survive or none, or where they come in any order the old ones too`() throws {
        let safe = Self.write + [.syncedDirectory("/v/new"), Self.claim]
        func edges(_ order: MemoryVolume.Order) throws -> [CrashState] {
            var volume = MemoryVolume(at: "/v", order: order)
            try volume.apply(Self.begin + safe)
            return volume.edges
        }
        #expect(places(try edges(.ordered)) == [#"["a"] []"#, #"[] ["a"]"#])
        #expect(places(try edges(.loose)) == [#"["a"] []"#, #"["a"] ["a"]"#, #"[] ["a"]"#])
        let byteCounts = try edges(.loose).map { ($0.bytes(of: "work/a") ?? $0.bytes(of: "new/a"))?.count }
        #expect(byteCounts == [0, 0, 2000, 0, 0, 2000, 0, 0, 2000])
    }

    @Test func `a tree made real can keep a file of the traced program, with other bytes`() throws {
        let (traced, place) = (try TemporaryDirectory(), try TemporaryDirectory())
        try traced.directory.put("a", "before")
        let status = try #require(try traced.directory.status(of: Self.name))
        let file = try KeptFile(traced.path + "/a", in: place.directory)
        var volume = try MemoryVolume(copying: traced.directory, order: .ordered)
        try volume.apply(.written(file: status.inode, offset: 0, bytes: Array("af".utf8)))
        let target = try place.directory.makeChild(Array("tree".utf8), mode: 0o700)
        try volume.seen.materialize(at: target, keeping: file)
        #expect(try target.status(of: Self.name)?.inode == status.inode)
        #expect(try target.text("a") == "affore")
    }

    @Test func `syncing only the old directory loses a file on the worst filesystem`() throws {
        let changes = Self.write + [.syncedFile(7), .syncedDirectory("/v/new"), Self.claim, .syncedDirectory("/v/new")]
        #expect(places(try states(changes, .ordered)) == [#"[] ["a"]"#])
        #expect(places(try states(changes, .loose)) == [#"[] []"#, #"[] ["a"]"#])
    }

    @Test func `names appear in order, or in any`() throws {
        let changes = ["b", "c"].enumerated().map {
            FileChange.created(directory: "/v/new", name: Array($0.element.utf8), file: UInt64($0.offset))
        }
        #expect(places(try states(changes, .ordered)) == [#"[] []"#, #"["b"] []"#, #"["b", "c"] []"#])
        #expect(places(try states(changes, .loose)).contains(#"["c"] []"#))
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `one sync of the filesystem makes all of it safe`(order: MemoryVolume.Order) throws {
        let states = try states(Self.write + [Self.claim, .syncedAll], order, count: 20)
        #expect(states.allSatisfy { $0.bytes(of: "work/a")?.count == 2000 && $0.names(in: "new") == [] })
    }

    @Test func `a folder whose parent is not synced may vanish with all that is in it`() throws {
        let changes: [FileChange] = [
            .madeDirectory(directory: "/v/new", name: Array("day".utf8)),
            .created(directory: "/v/new/day", name: Self.name, file: 9), .syncedFile(9), .syncedDirectory("/v/new/day"),
        ]
        let states = try states(changes, .ordered)
        #expect(Set(states.map { $0.names(in: "new/day") }) == [nil, ["a"]])
    }

    @Test func `space that was given is there or not, and reads as zeros`() throws {
        let changes =
            Self.write + [
                .syncedFile(7), .syncedDirectory("/v/new"), .allocated(file: 7, byteCount: 3000),
                .punched(file: 7, offset: 0, byteCount: 1000),
            ]
        let states = try states(changes, .ordered)
        #expect(Set(states.map { $0.bytes(of: "new/a")?.count }) == [2000, 3000])
        #expect(Set(states.map { $0.bytes(of: "new/a")?.first }) == [0, 0x61])
    }

    @Test func `the same seed gives the same trees`() throws {
        let (one, other) = (try states(Self.write, .loose), try states(Self.write, .loose))
        #expect(one.map { $0.bytes(of: "new/a") } == other.map { $0.bytes(of: "new/a") })
    }

    @Test func `a change to what is not there is a fault`() {
        #expect(throws: MemoryVolume.Fault.self) { _ = try states([.syncedFile(1)], .ordered) }
        #expect(throws: MemoryVolume.Fault.self) { _ = try states([Self.claim], .ordered) }
        #expect(throws: MemoryVolume.Fault.self) { _ = try states([.syncedDirectory("/v/gone")], .ordered) }
    }

    @Test func `a tree becomes real, a file with two names as one`() throws {
        let changes =
            Self.write + [.syncedFile(7), .syncedDirectory("/v/new"), Self.claim, .syncedDirectory("/v/work")]
        let place = try TemporaryDirectory()
        try states(changes, .ordered)[0].materialize(at: place.directory)
        let new = try place.directory.openChild(Array("new".utf8)).status(of: Self.name)
        let work = try place.directory.openChild(Array("work".utf8)).status(of: Self.name)
        #expect(new?.inode == work?.inode && new?.linkCount == 2 && new?.byteCount == 2000)
    }

    #if FAILPOINTS
        @Test(arguments: MemoryVolume.Order.allCases)
        func `a recorded program leads to the tree that it made`(order: MemoryVolume.Order) throws {
            let place = try TemporaryDirectory()
            try place.directory.put("old", "before")
            var volume = try MemoryVolume(copying: place.directory, order: order)
            let plan = FailPlan(under: place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            let folder = try place.directory.makeChild(Array("d".utf8), mode: 0o700)
            let file = try place.directory.openForWriting(Array("old".utf8), mode: 0o600)
            try file.write(Array("af".utf8), at: 2)
            try place.directory.rename(Array("old".utf8), to: folder, as: Array("new".utf8))
            try volume.apply(plan.changes)
            let states = volume.crashStates(seed: 3, count: 2)
            #expect(states[0].bytes(of: "old") == Array("before".utf8) && states[0].names(in: "d") == [])
            #expect(states[1].names(in: "") == ["d"] && states[1].bytes(of: "d/new") == Array("beafre".utf8))
        }
    #endif
}
