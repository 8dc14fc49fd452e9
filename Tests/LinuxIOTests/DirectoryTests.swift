import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite struct DirectoryTests {
    let place: TemporaryDirectory
    var directory: Directory { place.directory }

    init() throws {
        place = try TemporaryDirectory()
    }

    @Test(arguments: ["", ".", "..", "a/b", "/etc", "a\0b"])
    func `what is not one component is refused`(name: String) {
        #expect(throws: SystemError.self) { try directory.create(Array(name.utf8), mode: 0o600).closeNow() }
    }

    @Test func `every single byte but slash and NUL makes a name that lists as it was`() throws {
        let names = (UInt8.min...UInt8.max).filter { ![0, 0x2E, 0x2F].contains($0) }.map { [$0] }
        for name in names { try directory.put(name, name) }
        #expect(Set(try directory.names()) == Set(names))
    }

    @Test func `a child is made with its mode whatever the umask, and only once`() throws {
        let child = try directory.makeChild(Array("new".utf8), mode: 0o3770)
        #expect(try child.status().mode == 0o3770)
        try child.setMode(0o700)
        #expect(try directory.makeChild(Array("new".utf8), mode: 0o3770).status().mode == 0o700)
    }

    @Test func `a file is replaced in one step, also if a crash has left a temporary one`() throws {
        try directory.put("file", "old")
        try directory.put("file.new", "left by a crash, and longer")
        try directory.replace(Array("file".utf8), by: Array("file.new".utf8), mode: 0o640) {
            (file) throws(SystemError) in try file.write(Array("new".utf8))
        }
        #expect(try directory.text("file") == "new")
        #expect(try directory.status(of: Array("file".utf8))?.mode == 0o640)
        #expect(try directory.names().count == 1)
    }

    @Test func `a file that cannot be written leaves the old one, and nothing else`() throws {
        try directory.put("file", "old")
        let full = SystemError(code: ENOSPC, operation: "write", subject: "file.new")
        #expect(throws: full) {
            try directory.replace(Array("file".utf8), by: Array("file.new".utf8), mode: 0o640) {
                (file) throws(SystemError) in
                try file.write(Array("n".utf8))
                throw full
            }
        }
        #expect(try directory.text("file") == "old")
        #expect(try directory.names().count == 1)
    }

    @Test func `a symbolic link is neither opened nor entered`() throws {
        try directory.put("target")
        try place.link("link", to: "target")
        try place.link("loop", to: ".")
        #expect(try directory.status(of: Array("link".utf8))?.kind == .symbolicLink)
        #expect(throws: SystemError.self) { try directory.openForReading(Array("link".utf8)).closeNow() }
        #expect(throws: SystemError.self) { _ = try directory.openChild(Array("loop".utf8)) }
    }

    @Test func `opening a pipe does not wait for its writer`() throws {
        try place.makePipe("pipe")
        let file = try directory.openForReading(Array("pipe".utf8))
        #expect(try file.status().kind == .pipe)
    }

    @Test func `a rename never takes a taken name`() throws {
        try directory.put("a", "1")
        try directory.put("b", "2")
        let error = #expect(throws: SystemError.self) {
            try directory.rename(Array("a".utf8), to: directory, as: Array("b".utf8))
        }
        #expect(error?.isAlreadyThere == true)
        #expect(try directory.text("b") == "2")
    }

    @Test func `a listing shows many names once`() throws {
        for number in 0..<3000 { try directory.put("file-\(number)") }
        let names = try directory.names()
        #expect(names.count == 3000)
        #expect(Set(names).count == 3000)
    }

    @Test func `what is no regular file is not opened as one, and told as what it is`() throws {
        try directory.put("file", "1")
        try place.link("link", to: "file")
        try place.makePipe("pipe")
        try place.makeSocket("socket")
        _ = try directory.makeChild(Array("child".utf8), mode: 0o700)
        for (name, kind) in [
            ("link", "symbolic link"), ("pipe", "named pipe"), ("socket", "socket"), ("child", "directory"),
        ] {
            let error = #expect(throws: SystemError.self) {
                _ = try directory.openRegular(Array(name.utf8)).contents(limit: 1)
            }
            #expect(error?.isOfOneFile == true && error?.subject == "\(place.path)/\(name), a \(kind)")
        }
        #expect(try directory.openRegular(Array("file".utf8)).contents(limit: 1) == Array("1".utf8))
        let none = #expect(throws: SystemError.self) {
            _ = try directory.openRegular(Array("nothing".utf8)).contents(limit: 1)
        }
        #expect(none?.isNotFound == true && none?.isOfOneFile == false)
    }

    @Test func `what is not there has no status`() throws {
        #expect(try directory.status(of: Array("nothing".utf8)) == nil)
        #expect(try directory.unlink(Array("nothing".utf8)) == false)
    }

    @Test func `a filesystem tells its type and room`() throws {
        #expect(try directory.filesystemType().isShared == false)
        let space = try directory.filesystemSpace()
        #expect(space.freeByteCount > 0 && space.freeByteCount <= space.byteCount)
    }
}
