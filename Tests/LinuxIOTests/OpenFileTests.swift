import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite struct OpenFileTests {
    let place: TemporaryDirectory
    var directory: Directory { place.directory }
    let name = Array("file".utf8)

    init() throws {
        place = try TemporaryDirectory()
    }

    @Test(arguments: [0, 1, 4095, 4096, 70_000])
    func `a file is read whole up to the limit and not beyond`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        try directory.put(name, bytes)
        #expect(try directory.contents(of: name, limit: count) == bytes)
        if count > 0 { #expect(try directory.contents(of: name, limit: count - 1) == nil) }
        #expect(try directory.contentsIfThere(of: name, limit: count) == bytes)
        #expect(try directory.contentsIfThere(of: Array("absent".utf8), limit: count) == nil)
    }

    @Test func `a file's path is its folder's and its name`() throws {
        try directory.put("file", "0123456789")
        let opened = try directory.openForReading(name).path
        let made = try directory.create([0x61, 0xFF], mode: 0o600).path
        let named = try OpenFile.open(path: place.path + "/file").path
        #expect(opened == place.path + "/file" && made == place.path + "/a%FF" && named == opened)
    }

    @Test func `a chunk is read where it was asked for`() throws {
        try directory.put("file", "0123456789")
        let file = try directory.openForReading(name)
        var bytes = Array("x".utf8)
        #expect(try file.read(4, at: 3, appendingTo: &bytes) == 4)
        #expect(try file.read(4, at: 8, appendingTo: &bytes) == 2)
        #expect(try file.read(4, at: 10, appendingTo: &bytes) == 0)
        #expect(bytes == Array("x345689".utf8))
    }

    @Test func `bytes are written where they were meant for`() throws {
        let file = try directory.create(name, mode: 0o600)
        try file.reserve(byteCount: 8)
        try file.write(Array("ab".utf8))
        try file.write(Array("yz".utf8), at: 6)
        try file.write(Array("cd".utf8))
        try file.syncData()
        try file.sync()
        #expect(try directory.contents(of: name, limit: 8) == Array("abcd\0\0yz".utf8))
    }

    @Test func `space that is taken out reads as zeros`() throws {
        let file = try directory.create(name, mode: 0o600)
        try file.setNoCopyOnWrite()
        try file.write([UInt8](repeating: 1, count: 12_288))
        guard try file.punch(4096..<8192) else { return print("this filesystem cannot punch holes") }
        let bytes = try #require(try file.contents(limit: 12_288))
        #expect(bytes.count == 12_288 && bytes[4096..<8192].allSatisfy { $0 == 0 } && bytes[8192] == 1)
        try directory.syncFilesystem()
    }

    @Test func `a lock is held by one open file until it is closed`() throws {
        let first = try directory.openForWriting(name, mode: 0o600)
        #expect(try first.lock())
        let second = try directory.openForWriting(name, mode: 0o600)
        #expect(try second.lock() == false)
        try first.closeNow()
        #expect(try second.lock())
    }

    @Test func `who asks for a lock learns of that of others, and takes none`() throws {
        let holder = try directory.openForWriting(name, mode: 0o600)
        let asker = try directory.openForReading(name)
        #expect(try asker.isLockedElsewhere() == false)
        #expect(try holder.lock())
        #expect(try asker.isLockedElsewhere())
        #expect(try holder.isLockedElsewhere() == false)
        try holder.closeNow()
        #expect(try asker.isLockedElsewhere() == false)
        #expect(try directory.openForWriting(name, mode: 0o600).lock())
    }

    @Test func `a read lease waits for writers to finish`() throws {
        let writer = try directory.create(name, mode: 0o600)
        let reader = try directory.openForReading(name)
        #expect(reader.takeReadLease() == .writerHasIt)
        try writer.closeNow()
        #expect(reader.takeReadLease() == .granted)
        #expect(throws: SystemError.self) { try directory.openForWriting(name, mode: 0o600).closeNow() }
        reader.dropReadLease()
        try directory.openForWriting(name, mode: 0o600).closeNow()
    }

    @Test func `a writer by another name holds the lease back`() throws {
        try directory.put(name, [])
        try directory.link(name, to: directory, as: Array("other".utf8))
        let writer = try directory.openForWriting(Array("other".utf8), mode: 0o600)
        #expect(try directory.openForReading(name).takeReadLease() == .writerHasIt)
        try writer.closeNow()
    }

    @Test(arguments: [(Int64(0), Int64(0)), (-1, -1_000_000_000), (4_102_444_800, 4_102_444_800_000_000_000)])
    func `every time stamp can be told`(seconds: Int64, expected: Int64) throws {
        try directory.put(name, [])
        let times = [timespec(tv_sec: Int(seconds), tv_nsec: 0), timespec(tv_sec: Int(seconds), tv_nsec: 0)]
        #expect(unsafe utimensat(AT_FDCWD, place.path + "/file", times, 0) == 0)
        #expect(try directory.status(of: name)?.modifiedAt == expected)
    }
}
