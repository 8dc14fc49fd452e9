import LinuxIO
import PushModel
import SpoolStore
import TestSupport
import Testing

@Suite struct FolderCountTests {
    let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
    }

    /// A time at which the folder has not changed for long, as its own clock tells it.
    private var later: WallTime {
        get throws { WallTime(nanoseconds: try place.directory.status().modifiedAt) + .seconds(60) }
    }

    @Test func `only jobs count`() throws {
        for name in ["a.json", "b.yaml", "c.jsonl", ".d.json", "e.txt", "f.result.json", "g.json~"] {
            try place.directory.put(name)
        }
        var count = FolderCount()
        let found = try count.look(at: place.directory, now: later)
        #expect(found == 3)
    }

    @Test func `a folder that has changed is read again`() async throws {
        try place.directory.put("a.json")
        var count = FolderCount()
        let before = try place.directory.status().modifiedAt
        let first = try count.look(at: place.directory, now: later)
        let second = try count.look(at: place.directory, now: later)
        // Times of change are coarse.
        try await eventually("another time of change") {
            try place.directory.put("b.json")
            guard try place.directory.status().modifiedAt == before else { return true }
            try place.directory.unlink(Array("b.json".utf8))
            return false
        }
        let third = try count.look(at: place.directory, now: later)
        #expect([first, second, third] == [1, 1, 2])
    }

    @Test func `a folder that changed just before is read again`() throws {
        var count = FolderCount()
        let now = WallTime(nanoseconds: try place.directory.status().modifiedAt)
        var found: [Int] = []
        for number in 0..<20 {
            try place.directory.put("\(number).json")
            found.append(try count.look(at: place.directory, now: now))
        }
        #expect(found == Array(1...20))
    }
}
