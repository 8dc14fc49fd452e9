import HTTP2
import Testing

/// From the first stream to the last.
struct LifecycleTests {
    @Test func `nothing may be opened before the peer's SETTINGS`() throws {
        var rig = Rig(.init(), settings: nil)
        #expect(!rig.machine.isReady && rig.machine.room == 0 && rig.machine.capacity(bodyByteCount: 1) == 0)
        #expect(try rig.events(.settings([])) == [.ready])
        #expect(rig.machine.isReady && rig.machine.room == 1_000)
        #expect(rig.sent().last == .settingsACK)
    }

    @Test func `streams get ascending odd numbers`() {
        var rig = Rig()
        #expect(rig.machine.open(3, bodyByteCount: 10) == 1)
        #expect(rig.machine.open(body: [1]) == 7 && rig.machine.open(1, bodyByteCount: 0) == 9)
        #expect(rig.machine.openStreams(above: 3) == [5, 7, 9] && rig.machine.openStreamCount == 5)
    }

    @Test func `numbers end before two to the thirty-first`() {
        var options = ConnectionMachine.Options()
        options.firstStream = 0x7fff_fffb
        var rig = Rig(options)
        #expect(rig.machine.room == 3 && !rig.machine.isClosing)
        #expect(rig.open(3) == 0x7fff_fffb)
        #expect(rig.machine.room == 0 && rig.machine.isClosing && rig.machine.isOpen(0x7fff_ffff))
        #expect(rig.fault(.headers(0x7fff_ffff, ok)) == nil)
        #expect(rig.machine.openStreamCount == 2 && rig.machine.isReady)
    }

    @Test func `our own limit holds where the peer has none`() {
        var options = ConnectionMachine.Options()
        options.streamLimit = 2
        var rig = Rig(options, settings: [(3, 100)])
        rig.open(2)
        #expect(rig.machine.room == 0)
    }

    @Test func `GOAWAY ends opening, not waiting`() throws {
        var rig = Rig()
        rig.open(3)
        #expect(try rig.events(.goAway(3, .noError)) == [.goAway(lastStream: 3, .noError, debug: 0..<0)])
        #expect(rig.machine.isClosing && rig.machine.room == 0 && rig.machine.openStreams(above: 3) == [5])
        rig.machine.abandon(5)
        #expect(try rig.events(.headers(3, ok)).count == 1)
        #expect(rig.machine.openStreams(above: 0) == [1])
    }

    @Test func `a second GOAWAY may lower the last stream and cannot raise it`() throws {
        var rig = Rig()
        rig.open(4)
        let events = try rig.events(
            .goAway(0x7fff_ffff), .goAway(5, .internalError, debug: "a"), .goAway(3), .goAway(7, debug: "b"))
        #expect(
            events == [
                .goAway(lastStream: 0x7fff_ffff, .noError, debug: 0..<0),
                .goAway(lastStream: 5, .internalError, debug: 0..<1), .goAway(lastStream: 3, .noError, debug: 1..<1),
                .goAway(lastStream: 3, .noError, debug: 1..<2),
            ])
    }

    @Test func `closing says GOAWAY once and opens nothing more`() {
        var rig = Rig()
        rig.open()
        rig.machine.close(into: &rig.output)
        rig.machine.close(into: &rig.output)
        #expect(rig.sent() == [.goAway(0)] && rig.machine.isClosing && rig.machine.room == 0)
        #expect(rig.fault(.headers(1, ok)) == nil)
        #expect(rig.machine.openStreamCount == 0)
    }

    @Test func `a PING of the peer's is answered with its own bytes`() throws {
        var rig = Rig()
        _ = try rig.events(.ping(9), .ping(1))
        #expect(rig.sent() == [.ping(9, flags: 1), .ping(1, flags: 1)])
    }

    @Test func `only an answer to a PING of ours is an event`() throws {
        var rig = Rig()
        #expect(try rig.events(.ping(1, flags: 1)).isEmpty)
        rig.machine.ping(0x1234, into: &rig.output)
        #expect(rig.sent() == [Frame(type: 6, payload: [0, 0, 0, 0, 0, 0, 0x12, 0x34])])
        #expect(try rig.events(.ping(5, flags: 1), .ping(5, flags: 1)) == [.pong(5)])
    }

    @Test func `the head of a slow request is cut into frames`() {
        var rig = Rig()
        var head = EncodedHead()
        head.bytes = [UInt8](repeating: 7, count: 16_384 * 2 + 1)
        let stream = rig.machine.open(body: [1])
        rig.machine.appendHead(head, stream: stream, into: &rig.output)
        let frames = rig.sent()
        #expect(frames.map(\.type) == [1, 9, 9] && frames.map(\.flags) == [0, 0, 4])
        #expect(frames.map(\.payload.count) == [16_384, 16_384, 1])
    }

    @Test(arguments: [(0, "NO_ERROR"), (7, "REFUSED_STREAM"), (13, "HTTP_1_1_REQUIRED"), (14, "error 14")])
    func `error codes have the names of the RFC`(code: UInt32, name: String) {
        #expect("\(ErrorCode(rawValue: code))" == name)
    }
}
