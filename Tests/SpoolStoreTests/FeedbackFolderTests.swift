import Glibc
import JobFormat
import LinuxIO
import PushModel
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
        #expect(try feedback.nextName(at: time).escaped == "20261121T120000.123456Z-host-a.jsonl")
    }

    @Test func `names strictly increase when the clock stands still, steps back, or the daemon starts again`() throws {
        var names: [FileName] = []
        for step in [0, 0, -3600, 1, 0] {
            let feedback = try FeedbackFolder(spool.app)
            for _ in 0..<3 {
                names.append(try feedback.publish(line, at: spool.noon + .seconds(step)))
            }
        }
        #expect(names == names.sorted() && Set(names).count == names.count)
        #expect(try spool.folder("feedback").names().count == names.count)
    }

    @Test func `names increase over files that consumers removed, as far as the journal knows`() throws {
        let last = spool.noon + .seconds(60)
        let feedback = try FeedbackFolder(spool.app, after: last)
        #expect(try feedback.nextName(at: spool.noon).escaped == "20261121T120100.000001Z-host-a.jsonl")
    }

    @Test func `names follow one that somebody remembers, and no other word`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let isName = feedback.goOn(after: try fileName("20261121T120100.000000Z-host-b.jsonl"))
        let isOther = feedback.goOn(after: try fileName("zzz"))
        #expect(isName && !isOther)
        #expect(try feedback.nextName(at: spool.noon).escaped == "20261121T120100.000001Z-host-a.jsonl")
    }

    @Test func `another node's files do not count`() throws {
        try spool.folder("feedback").put("20991121T120000.000000Z-host-b.jsonl")
        let feedback = try FeedbackFolder(spool.app)
        #expect(try feedback.nextName(at: spool.noon).escaped.hasPrefix("20261121"))
    }

    @Test func `nothing is written over a file that is there`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let name = try feedback.nextName(at: spool.noon)
        #expect(try feedback.publish(line, as: name))
        #expect(try feedback.publish(line + line, as: name) == false)
        #expect(try spool.folder("feedback").contents(of: name.bytes, limit: 100) == line)
    }

    @Test func `lines whose name somebody has taken go out under the next one`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let folder = try spool.folder("feedback")
        for number in 0..<3 { try folder.put("20261121T120000.00000\(number)Z-host-a.jsonl", "taken") }
        let name = try feedback.publish(line, at: spool.noon)
        #expect(name.escaped == "20261121T120000.000003Z-host-a.jsonl")
        #expect(try folder.contents(of: name.bytes, limit: 100) == line)
        #expect(try folder.text("20261121T120000.000000Z-host-a.jsonl") == "taken")
    }

    @Test(arguments: ["99991231T235959.999999Z", "22620411T234716.854775Z", "22500101T000000.000000Z"])
    func `a file of a time that no clock tells is not followed, and is told of`(time: String) throws {
        try spool.folder("feedback").put("20261122T115959.000000Z-host-a.jsonl")
        try spool.folder("feedback").put("\(time)-host-a.jsonl")
        let feedback = try FeedbackFolder(spool.app)
        #expect(feedback.ignored?.escaped == "\(time)-host-a.jsonl")
        let names = try (0..<3).map { _ in try feedback.publish(line, at: spool.noon).escaped }
        #expect(names.first == "20261122T115959.000001Z-host-a.jsonl" && Set(names).count == 3)
    }

    @Test func `a floor of a time that no clock tells is not followed, and is told of`() throws {
        let feedback = try FeedbackFolder(spool.app, after: WallTime(nanoseconds: .max))
        #expect(feedback.ignored != nil)
        let name = try feedback.nextName(at: spool.noon)
        #expect(name.escaped == "20261121T120000.000000Z-host-a.jsonl")
        let isFollowed = feedback.goOn(after: try fileName("22610101T000000.000000Z-host-a.jsonl"))
        #expect(!isFollowed)
        let next = try feedback.nextName(at: spool.noon)
        #expect(next.escaped == "20261121T120000.000001Z-host-a.jsonl")
    }

    @Test func `names given before are followed when the clock is set back`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let far = try feedback.publish(line, at: WallTime(epochSeconds: 8_835_955_199))
        let next = try feedback.publish(line, at: spool.noon)
        let restarted = try FeedbackFolder(spool.app)
        let last = try restarted.nextName(at: spool.noon)
        #expect(far < next && next < last && restarted.ignored == nil)
        #expect(far.escaped.hasPrefix("22491231T235959") && last.escaped.hasPrefix("22491231T235959"))
    }

    @Test func `behind the last name of all that is followed names go on, and are the node's`() throws {
        try spool.folder("feedback").put("22491231T235959.999999Z-host-a.jsonl")
        let feedback = try FeedbackFolder(spool.app)
        let names = try (0..<2).map { _ in try feedback.publish(line, at: spool.noon) }
        #expect(names.map(\.escaped) == (0..<2).map { "22500101T000000.00000\($0)Z-host-a.jsonl" })
        for name in names { #expect(try feedback.origin(of: name) == .own) }
        let floor = try #require(FeedbackFileName.time(of: names[1].bytes))
        let restarted = try FeedbackFolder(spool.app, after: floor)
        #expect(restarted.ignored == nil && restarted.goOn(after: names[1]))
        #expect(try restarted.origin(of: names[1]) == .own)
        let next = try restarted.nextName(at: spool.noon)
        #expect(names[1] < next)
    }

    @Test func `at the end of time there is no name rather than the last one again`() throws {
        let end = WallTime(nanoseconds: .max)
        let feedback = try FeedbackFolder(spool.app)
        let last = try feedback.publish(line, at: end)
        #expect(throws: SystemError.self) { try feedback.nextName(at: end) }
        #expect(throws: SystemError.self) { try feedback.publish(line, at: end) }
        #expect(try spool.folder("feedback").names() == [last.bytes])
    }

    // MARK: What others put there

    private func origin(_ name: String) throws -> FeedbackFolder.Origin {
        let feedback = try FeedbackFolder(spool.app)
        return try feedback.origin(of: try fileName(name))
    }

    private func isForeign(_ name: String) throws -> Bool {
        if case .foreign = try origin(name) { true } else { false }
    }

    @Test func `only regular files with a time that may be are this node's`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let name = try feedback.publish(line, at: spool.noon)
        #expect(try origin(name.escaped) == .own)
        #expect(try origin("20261121T120001.000000Z-host-a.jsonl") == .gone)
        #expect(try isForeign("99991231T235959.999999Z-host-a.jsonl"))
        #expect(try isForeign("20261121~120001.000000Z-host-a.jsonl"))
        #expect(try isForeign("20261122T120001.0+23:59-host-a.jsonl"))
        let (pipe, link) = ("20261121T120002.000000Z-host-a.jsonl", "20261121T120003.000000Z-host-a.jsonl")
        try spool.place.makePipe("weather/feedback/\(pipe)")
        try spool.place.link("weather/feedback/\(link)", to: name.escaped)
        #expect(try isForeign(pipe))
        #expect(try isForeign(link))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `another user's file is not this node's`() throws {
        let name = "20261121T120001.000000Z-host-a.jsonl"
        try spool.folder("feedback").put(name, "stolen")
        #expect(try origin(name) == .own)
        try #require(unsafe chown("\(spool.place.path)/weather/feedback/\(name)", 65534, 65534) == 0)
        #expect(try isForeign(name))
        let feedback = try FeedbackFolder(spool.app)
        let file = try feedback.open(try fileName(name))
        #expect(feedback.origin(of: try file.status()) != .own)
    }

    @Test func `an interrupted publication leaves nothing`() throws {
        for name in [".host-a.tmp", ".host-a-0123456789abcdef.tmp"] { try spool.folder("feedback").put(name, "half") }
        let others = [".c.tmp", ".host-a-b.tmp", ".host-a-b-0123456789abcdef.tmp", ".host-b-0123456789abcdef.tmp"]
        for name in others { try spool.folder("feedback").put(name) }
        let feedback = try FeedbackFolder(spool.app)
        #expect(try spool.folder("feedback").sortedNames() == others.sorted())
        try feedback.publish(line, at: spool.noon)
        #expect(try spool.folder("feedback").names().count == others.count + 1)
    }

    @Test func `lines told early are in one file of the run, of which a long one is replaced`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let folder = try spool.folder("feedback")
        func told() throws -> [UInt8]? { try folder.contents(of: Array(".host-a.early".utf8), limit: 4 << 20) }
        try folder.put(".host-a.early", "of an earlier run")
        try feedback.tellEarly(line)
        try feedback.tellEarly(line)
        #expect(try told() == line + line)
        let long = [UInt8](repeating: 0x0A, count: 1 << 20)
        try feedback.tellEarly(long)
        try feedback.tellEarly(line)
        #expect(try told() == line)
        #expect(try folder.names().count == 1)
    }

    @Test func `nothing that another program puts in the place of early lines gets more of them`() throws {
        let feedback = try FeedbackFolder(spool.app)
        let folder = try spool.folder("feedback")
        try feedback.tellEarly(line)
        try folder.put("other", "")
        try folder.unlink(Array(".host-a.early".utf8))
        try spool.place.link("weather/feedback/.host-a.early", to: "other")
        try feedback.tellEarly(line)
        #expect(try folder.contents(of: Array(".host-a.early".utf8), limit: 100) == line)
        #expect(try folder.contents(of: Array("other".utf8), limit: 100) == [])
    }

    @Test func `a folder with the name of an unfinished file keeps nothing from being published`() throws {
        let folders = [".host-a.tmp", ".host-a-0123456789abcdef.tmp"]
        for name in folders { _ = try spool.folder("feedback").makeChild(Array(name.utf8), mode: 0o755) }
        let feedback = try FeedbackFolder(spool.app)
        let name = try feedback.publish(line, at: spool.noon)
        #expect(try spool.folder("feedback").sortedNames() == (folders + [name.escaped]).sorted())
        #expect(try spool.folder("feedback").contents(of: name.bytes, limit: 100) == line)
    }

    @Test(.timeLimit(.minutes(10))) func `a file is complete when it is visible`() async throws {
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
        for _ in 0..<30 { try feedback.publish(whole, at: spool.noon) }
        #expect(try await reader.value)
    }
}
