import Glibc
import JobFormat
import LinuxIO
import SpoolModel
import TestSupport
import Testing

@testable import SpoolStore

@Suite struct JobNoticesTests {
    let test: TestSpool

    init() throws {
        test = try TestSpool()
    }

    private var notices: JobNotices { test.app.notices }

    private func append(_ lines: [UInt8], by notices: JobNotices? = nil) {
        let notices = notices ?? self.notices
        notices.add(lines)
        notices.seal()
        notices.write()
    }

    private func folder() throws -> Directory { try test.folder("tmp/.jobs") }

    private func names(_ names: String...) throws -> Set<FileName> {
        Set(try names.map { try #require(FileName($0)) })
    }

    /// Puts files into `hold/`, and returns the lines about them.
    private func hold(_ names: String...) throws -> [String] {
        try names.map { name in
            try test.app.holdDirectory.put(name)
            let inode = try #require(try test.app.holdDirectory.status(of: Array(name.utf8))).inode
            let escaped = try #require(FileName(name)).escaped
            return "\(escaped)\t\(inode)\thold/\(escaped)\t{}\n"
        }
    }

    @Test func `an app without ended or held jobs has no file`() throws {
        notices.noteHeld([])
        #expect(try test.folder("tmp").names().isEmpty)
    }

    @Test func `whoever may enter the folder may read the lines`() throws {
        append(Array("a\n".utf8))
        append(Array("b\n".utf8))
        _ = try hold("c.json")
        notices.noteHeld(try names("c.json"))
        #expect(try folder().text("ended-host-a") == "a\nb\n")
        #expect(try folder().status().mode & 0o777 == 0o755)
        for name in try folder().names() { #expect(try folder().status(of: name)?.mode ?? 0 & 0o777 == 0o644) }
    }

    @Test func `lines are written once they are sealed, and wait while they cannot be written`() throws {
        notices.add(Array("a\n".utf8))
        notices.write()
        #expect(try test.folder("tmp").names().isEmpty)
        notices.seal()
        notices.add(Array("b\n".utf8))
        try test.app.staging.put(".jobs")
        notices.write()
        #expect(notices.fault is SystemError)
        try test.app.staging.unlink(EndedJob.folder)
        notices.write()
        #expect(try folder().text("ended-host-a") == "a\n")
    }

    @Test func `another start appends, and completes a line that a crash has cut`() throws {
        append(Array("a\nb".utf8))
        append(Array("c\n".utf8), by: try test.restarted().notices)
        #expect(try folder().text("ended-host-a") == "a\nb\nc\n")
    }

    @Test func `a file that was removed or moved with its folder is made again`() throws {
        append(Array("a\n".utf8))
        try folder().unlink(Array("ended-host-a".utf8))
        append(Array("b\n".utf8))
        #expect(try folder().text("ended-host-a") == "b\n")
        try test.app.staging.rename(EndedJob.folder, to: test.app.staging, as: Array("away".utf8))
        append(Array("c\n".utf8))
        #expect(try folder().text("ended-host-a") == "c\n")
    }

    @Test func `a long file makes room for another, and one is kept`() throws {
        let lines = [UInt8](repeating: 0x78, count: 8 << 20) + [0x0A]
        for text in ["a\n", "b\n", "c\n"] { append(Array(text.utf8) + lines) }
        append(Array("d\n".utf8))
        #expect(try folder().text("ended-host-a") == "d\n")
        #expect(try folder().text("earlier-host-a")?.hasPrefix("c\n") == true)
        #expect(try folder().names().count == 2)
    }

    @Test func `held files are listed, and no longer when they are claimed`() throws {
        let lines = try hold("a.json", "b%.json")
        notices.noteHeld(try names("a.json", "b%.json"))
        #expect(try folder().text("held") == lines.joined())
        notices.noteReleased(try #require(FileName("a.json")))
        #expect(try folder().text("held") == lines[1])
    }

    @Test func `a held file keeps the inode that it came with, and one that comes later has its own`() throws {
        let before = try hold("a.json")
        notices.noteHeld(try names("a.json"))
        let hold = test.app.holdDirectory
        try hold.put("b.json", "edited")
        try hold.rename(Array("b.json".utf8), to: hold, replacing: Array("a.json".utf8))
        notices.noteHeld(try names("a.json"))
        #expect(try folder().text("held") == before[0])
        notices.noteReleased(try #require(FileName("a.json")))
        notices.noteHeld(try names("a.json"))
        let inode = try #require(try hold.status(of: Array("a.json".utf8))).inode
        #expect(try folder().text("held") == "a.json\t\(inode)\thold/a.json\t{}\n")
    }

    @Test func `a held file that has gone meanwhile is left out`() throws {
        let lines = try hold("a.json")
        notices.noteHeld(try names("a.json", "gone.json"))
        #expect(try folder().text("held") == lines[0])
    }

    @Test func `a claim does not trust the list of an earlier run`() throws {
        _ = try hold("a.json")
        notices.noteHeld(try names("a.json"))
        try test.restarted().notices.noteReleased(try #require(FileName("a.json")))
        #expect(try folder().text("held") == "")
    }

    @Test(.enabled(if: geteuid() == 0)) func `a folder of another user is not written to`() throws {
        _ = try test.app.staging.makeChild(EndedJob.folder, mode: 0o777)
        #expect(unsafe chown("\(test.place.path)/weather/tmp/.jobs", 65534, 65534) == 0)
        append(Array("a\n".utf8))
        #expect(notices.fault is SpoolFault)
        #expect(try folder().names().isEmpty)
    }
}
