import LinuxIO
import SpoolStore
import TestSupport
import Testing

@Suite struct BallastTests {
    private let name = Array("ballast".utf8)

    @Test func `it takes its space, and is found again`() throws {
        let place = try TemporaryDirectory()
        let ballast = Ballast(in: place.directory)
        #expect(!ballast.isThere)
        #expect(try ballast.restore() && ballast.restore() && ballast.isThere)
        #expect(try Ballast(in: place.directory).restore())
        #expect(try place.directory.status(of: name)?.byteCount == Ballast.byteCount)
        #expect(try ballast.giveUp())
        #expect(try !ballast.giveUp() && !ballast.isThere && place.directory.names().isEmpty)
    }

    @Test(.enabled(if: SmallVolume.isPossible, "needs root, to mount a small volume"))
    func `given up on a full volume it makes room, and comes back when there is room`() throws {
        let volume = try SmallVolume(byteCount: 4 << 20)
        let ballast = Ballast(in: volume.directory)
        #expect(try ballast.restore())
        try volume.fill("one")
        #expect(throws: SystemError.self) { try volume.directory.put(Array("more".utf8), [1]) }
        #expect(try ballast.giveUp())
        try volume.directory.put("result", String(repeating: "x", count: 1 << 19))
        #expect(try !ballast.restore())
        #expect(try volume.directory.status(of: name) == nil)
        try volume.directory.unlink(Array("one".utf8))
        #expect(try ballast.restore())
    }
}
