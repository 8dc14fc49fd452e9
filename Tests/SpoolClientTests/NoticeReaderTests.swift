import Glibc
import JobFormat
import LinuxIO
import SpoolModel
import TestSupport
import Testing

@testable import SpoolClient

/// What producers are told. A test that runs as root may read everything, so the whole way is in `ProducerTests`.
@Suite struct NoticeReaderTests {
    let place: TemporaryDirectory
    let folder: Directory

    init() throws {
        place = try TemporaryDirectory()
        folder = try place.directory.makeChild(Array("tmp".utf8), mode: 0o700).makeChild(EndedJob.folder, mode: 0o755)
    }

    private func reader() throws -> NoticeReader? { try NoticeReader(of: place.directory) }

    private func end(of name: String, _ marks: inout NoticeReader.Marks) throws -> String? {
        try reader()?.end(of: try #require(FileName(name)), with: &marks)?.path
    }

    private func end(of name: String) throws -> String? {
        var marks = NoticeReader.Marks()
        return try end(of: name, &marks)
    }

    private func line(_ name: String, _ path: String = "done/d/x") -> String { "\(name)\t1\t\(path)\t{}\n" }

    @Test func `without a folder nothing is known`() throws {
        try place.directory.openChild(Array("tmp".utf8)).removeChild(EndedJob.folder)
        #expect(try reader() == nil)
    }

    @Test(.enabled(if: geteuid() == 0)) func `a folder that another user has made tells nothing`() throws {
        try folder.put("ended-a", line("a.json"))
        #expect(try end(of: "a.json") != nil)
        #expect(unsafe chown("\(place.path)/tmp/.jobs", 65534, 65534) == 0)
        #expect(try reader() == nil)
    }

    @Test func `a held file is known by its escaped name`() throws {
        #expect(try reader()?.isHeld(try #require(FileName("a%.json"))) == false)
        try folder.put("held", line("b.json", "hold/b.json") + line("a%25.json", "hold/a%25.json"))
        #expect(try reader()?.isHeld(try #require(FileName("a%.json"))) == true)
        #expect(try reader()?.isHeld(try #require(FileName("a.json"))) == false)
    }

    @Test func `the files of all nodes are read, the one before the last too`() throws {
        try folder.put("ended-a", line("a.json", "done/d/a"))
        try folder.put("earlier-a", line("b.json", "done/d/b"))
        try folder.put("ended-b", line("c.json", "done/d/c"))
        for name in ["a", "b", "c"] { #expect(try end(of: "\(name).json") == "done/d/\(name)") }
        #expect(try end(of: "d.json") == nil)
    }

    @Test func `a line is found wherever it is in a long file`() throws {
        let filler = line("other.json") + line("a rather longer name.json")
        for count in [0, 1, 3_000, 25_000, 60_000] {
            let text = String(repeating: filler, count: count)
            try folder.put("ended-a", text + line("a.json") + String(repeating: filler, count: 60_000 - count))
            #expect(try end(of: "a.json") == "done/d/x", "\(count)")
            #expect(try end(of: "er.json") == nil)
            try folder.unlink(Array("ended-a".utf8))
        }
    }

    @Test func `a file that grows and is replaced by another is read on`() throws {
        var marks = NoticeReader.Marks()
        let file = try folder.create(Array("ended-a".utf8), mode: 0o644)
        let text = line("a.json")
        try file.write(Array((String(repeating: line("b.json"), count: 50_000) + text.prefix(9)).utf8))
        #expect(try end(of: "a.json", &marks) == nil)
        try file.write(Array(text.dropFirst(9).utf8))
        try folder.rename(Array("ended-a".utf8), to: folder, as: Array("earlier-a".utf8))
        try folder.put("ended-a", line("c.json"))
        #expect(try end(of: "a.json", &marks) == "done/d/x")
    }

    @Test func `another file with the inode of a removed one is read from its beginning`() throws {
        var marks = NoticeReader.Marks()
        let file = try folder.create(Array("ended-a".utf8), mode: 0o644)
        try file.write(Array(String(repeating: line("b.json"), count: 50_000).utf8))
        #expect(try end(of: "a.json", &marks) == nil)
        #expect(unsafe truncate("\(place.path)/tmp/.jobs/ended-a", 0) == 0)
        try file.write(Array(line("a.json").utf8), at: 0)
        #expect(try end(of: "a.json", &marks) == "done/d/x")
        try file.write(Array((line("a.json") + String(repeating: line("c.json"), count: 60_000)).utf8), at: 0)
        #expect(try end(of: "a.json", &marks) == "done/d/x")
    }

    @Test func `lines that were read are not read again for a name that is not in them`() throws {
        var marks = NoticeReader.Marks()
        let file = try folder.create(Array("ended-a".utf8), mode: 0o644)
        try file.write(Array((line("a.json") + String(repeating: line("b.json"), count: 20_000)).utf8))
        #expect(try end(of: "c.json", &marks) == nil)
        // The second line gets another name, but the first 256 bytes and the length stay.
        try file.write(Array(line("c.json").utf8), at: Int64(line("a.json").utf8.count * 100))
        #expect(try end(of: "c.json", &marks) == nil)
        try file.write(Array(line("d.json", "done/d/later").utf8))
        #expect(try end(of: "d.json", &marks) == "done/d/later")
        #expect(try end(of: "a.json", &marks) == "done/d/x")
    }

    @Test func `what was read of a file that is gone is forgotten`() throws {
        var marks = NoticeReader.Marks()
        for name in ["ended-a", "ended-b"] { try folder.put(name, line("\(name).json")) }
        #expect(try end(of: "c.json", &marks) == nil)
        #expect(marks.count == 2)
        try folder.unlink(Array("ended-a".utf8))
        #expect(try end(of: "c.json", &marks) == nil)
        #expect(marks.count == 1)
    }
}
