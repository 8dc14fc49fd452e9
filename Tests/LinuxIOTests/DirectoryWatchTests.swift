import LinuxIO
import TestSupport
import Testing

@Suite struct DirectoryWatchTests {
    let place: TemporaryDirectory
    let new: Directory
    let other: Directory
    let watch: DirectoryWatch

    init() throws {
        place = try TemporaryDirectory()
        new = try place.directory.makeChild(Array("new".utf8), mode: 0o700)
        other = try place.directory.makeChild(Array("other".utf8), mode: 0o700)
        watch = try DirectoryWatch()
        try watch.add(new, tag: 7, for: .files)
    }

    /// The ways to publish a file called `x`.
    enum Publication: CaseIterable {
        case inPlace, renamedIn, linked, unnamedThenLinked, renamedOver, exchanged

        /// What is told of each, at the least.
        var changes: DirectoryWatch.Changes {
            switch self {
            case .inPlace: [.created, .modified, .closed]
            case .renamedIn, .renamedOver, .exchanged: [.movedIn]
            case .linked, .unnamedThenLinked: [.created]
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: Publication.allCases)
    func `every way to publish a file shows`(way: Publication) async throws {
        try publish(way)
        try await expect(way.changes, of: "x")
        watch.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `a directory that is moved in is told as one`() async throws {
        let full = try other.makeChild(Array("full".utf8), mode: 0o700)
        try full.put("inside")
        try other.rename(Array("full".utf8), to: new, as: Array("full".utf8))
        try await expect([.movedIn, .isDirectory], of: "full")
        watch.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `a folder's own end and its children's are told`() async throws {
        try watch.add(place.directory, tag: 1, for: .folders)
        _ = try place.directory.makeChild(Array("x".utf8), mode: 0o700)
        try place.directory.removeChild(Array("x".utf8))
        try await expect([.created, .removed, .isDirectory], of: "x")
        watch.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `more events than anybody takes become one call to scan`() async throws {
        let small = try DirectoryWatch(capacity: 8)
        try small.add(other, tag: 1, for: .files)
        for number in 0..<200 { try other.put("file-\(number)") }
        var notices: [DirectoryWatch.Notice] = []
        while !notices.contains(.lost) { notices += try #require(await small.next()) }
        #expect(notices.count < 200)
        small.stop()
        watch.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `what is watched no longer is told no longer`() async throws {
        watch.remove(tag: 7)
        try watch.add(other, tag: 8, for: .files)
        try new.put("silent")
        try other.put("x")
        try await expect([.created], of: "x")
        watch.stop()
    }

    @Test(arguments: [
        ("inotify_add_watch", 28, "fs.inotify.max_user_watches"),
        ("inotify_init1", 24, "fs.inotify.max_user_instances"),
    ])
    func `what cannot be watched names the limit to raise`(call: String, code: Int32, limit: String) {
        let fault = WatchFault(SystemError(code: code, operation: call))
        #expect(fault.hint?.contains(limit) == true)
        watch.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `a stopped watch ends`() async {
        watch.stop()
        #expect(await watch.next() == nil)
    }

    @Test(.timeLimit(.minutes(10))) func `a cancelled consumer stops waiting`() async {
        let consumer = Task { await watch.next() }
        consumer.cancel()
        #expect(await consumer.value == nil)
        watch.stop()
    }

    /// Waits until all of `changes` were told of `name`, and nothing of what nobody watches.
    private func expect(_ changes: DirectoryWatch.Changes, of name: String) async throws {
        var seen: DirectoryWatch.Changes = []
        while !seen.isSuperset(of: changes) {
            for case .event(let event) in try #require(await watch.next()) {
                #expect(event.name != Array("silent".utf8))
                if event.name == Array(name.utf8) { seen.formUnion(event.changes) }
            }
        }
    }

    private func publish(_ way: Publication) throws {
        let x = Array("x".utf8)
        switch way {
        case .inPlace: try new.put("x", "bytes")
        case .renamedIn:
            try other.put("x", "bytes")
            try other.rename(x, to: new, as: x)
        case .linked:
            try other.put("x", "bytes")
            try other.link(x, to: new, as: x)
        case .unnamedThenLinked: try place.linkUnnamed("new/x", contents: "bytes")
        case .renamedOver:
            try new.put("x", "old")
            try other.put("x", "bytes")
            try other.rename(x, to: new, replacing: x)
        case .exchanged:
            try new.put("x", "old")
            try other.put("x", "bytes")
            try place.exchange("other/x", "new/x")
        }
    }
}
