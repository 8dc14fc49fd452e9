import APNSModel
import LinuxIO
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct FeedbackFolderTests {
    let spool: TestSpool
    let line = Array("{\"v\":1}\n".utf8)

    init() throws {
        spool = try TestSpool()
    }

    @Test func `a file is called by its time and node`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let time = WallTime(nanoseconds: spool.noon.nanoseconds + 123_456_789)
        #expect(feedback.nextName(at: time).escaped == "20261121T120000.123456Z-host-a.jsonl")
    }

    @Test func `names strictly increase when the clock stands still, steps back, or the daemon starts again`() throws {
        var names: [FileName] = []
        for step in [0, 0, -3600, 1, 0] {
            let feedback = try FeedbackFolder(spool.app)
            for _ in 0..<3 {
                names.append(feedback.nextName(at: spool.noon + .seconds(step)))
                try feedback.publish(line, as: names[names.count - 1])
            }
        }
        #expect(names == names.sorted() && Set(names).count == names.count)
        #expect(try spool.folder("feedback").names().count == names.count)
    }

    @Test func `names increase over files that consumers removed, as far as the journal knows`() throws {
        let last = spool.noon + .seconds(60)
        let feedback = try FeedbackFolder(spool.app, after: last)
        #expect(feedback.nextName(at: spool.noon).escaped == "20261121T120100.000001Z-host-a.jsonl")
    }

    @Test func `names follow one that somebody remembers, and no other word`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let isName = feedback.goOn(after: try fileName("20261121T120100.000000Z-host-b.jsonl"))
        let isOther = feedback.goOn(after: try fileName("zzz"))
        #expect(isName && !isOther)
        #expect(feedback.nextName(at: spool.noon).escaped == "20261121T120100.000001Z-host-a.jsonl")
    }

    @Test func `another node's files do not count`() throws {
        try spool.folder("feedback").put("20991121T120000.000000Z-host-b.jsonl")
        let feedback = try FeedbackFolder(spool.app)
        #expect(feedback.nextName(at: spool.noon).escaped.hasPrefix("20261121"))
    }

    @Test func `publishing again what a crash had published changes nothing`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let name = feedback.nextName(at: spool.noon)
        #expect(try feedback.publish(line, as: name))
        #expect(try feedback.publish(line + line, as: name) == false)
        #expect(try spool.folder("feedback").contents(of: name.bytes, limit: 100) == line)
    }

    @Test func `an interrupted publication leaves nothing`() throws {
        for name in [".host-a.tmp", ".host-a-0123456789abcdef.tmp"] { try spool.folder("feedback").put(name, "half") }
        let others = [".c.tmp", ".host-a-b.tmp", ".host-a-b-0123456789abcdef.tmp", ".host-b-0123456789abcdef.tmp"]
        for name in others { try spool.folder("feedback").put(name) }
        let feedback = try FeedbackFolder(spool.app)
        #expect(try spool.folder("feedback").sortedNames() == others.sorted())
        try feedback.publish(line, as: feedback.nextName(at: spool.noon))
        #expect(try spool.folder("feedback").names().count == others.count + 1)
    }

    @Test func `a folder with the name of an unfinished file keeps nothing from being published`() throws {
        let folders = [".host-a.tmp", ".host-a-0123456789abcdef.tmp"]
        for name in folders { _ = try spool.folder("feedback").makeChild(Array(name.utf8), mode: 0o755) }
        let feedback = try FeedbackFolder(spool.app)
        let name = feedback.nextName(at: spool.noon)
        #expect(try feedback.publish(line, as: name))
        #expect(try spool.folder("feedback").sortedNames() == (folders + [name.escaped]).sorted())
        #expect(try spool.folder("feedback").contents(of: name.bytes, limit: 100) == line)
    }

    @Test(.timeLimit(.minutes(1))) func `a file is complete when it is visible`() async throws {
        let path = spool.place.path + "/weather/feedback"
        let whole = [UInt8](repeating: 0x78, count: 300_000)
        let reader = Task.detached {
            let folder = try Directory.open(path: path)
            var seen: Set<[UInt8]> = []
            while seen.count < 30 {
                for name in try folder.names() where name.first != 0x2E {
                    guard try folder.contents(of: name, limit: 1 << 20) == whole else { return false }
                    seen.insert(name)
                }
            }
            return true
        }
        let feedback = try FeedbackFolder(spool.app)
        for _ in 0..<30 { try feedback.publish(whole, as: feedback.nextName(at: spool.noon)) }
        #expect(try await reader.value)
    }
}
