import HTTP2
import Testing

/// Both windows, in both directions, and the settings that change them.
struct WindowTests {
    @Test func `the connection's window bounds whole requests`() throws {
        var rig = Rig()
        #expect(rig.machine.capacity(bodyByteCount: 4_096) == 15 && rig.machine.capacity(bodyByteCount: 5_120) == 12)
        _ = rig.machine.open(15, bodyByteCount: 4_096)
        #expect(rig.machine.capacity(bodyByteCount: 4_096) == 0 && rig.machine.capacity(bodyByteCount: 4_095) == 1)
        #expect(rig.machine.capacity(bodyByteCount: 0) == 985)
        #expect(try rig.events(.windowUpdate(0, 1)) == [.limitsChanged])
        #expect(rig.machine.capacity(bodyByteCount: 4_096) == 1)
    }

    @Test(arguments: [(99, 0), (100, 10), (101, 10)])
    func `a body must fit the first window of its stream`(window: UInt32, capacity: Int) {
        let rig = Rig(.init(), settings: [(4, window), (3, 10)])
        #expect(rig.machine.capacity(bodyByteCount: 100) == capacity)
    }

    @Test func `a body must fit one frame`() {
        var rig = Rig()
        #expect(rig.machine.capacity(bodyByteCount: 16_385) == 0)
        #expect(rig.fault(.settings([(5, 20_000)])) == nil)
        #expect(rig.machine.capacity(bodyByteCount: 16_385) == 3 && rig.machine.frameByteLimit == 20_000)
    }

    @Test func `the peer's limit of streams may fall and rise at any time`() throws {
        var rig = Rig(.init(), settings: [(3, 4)])
        rig.open(3)
        #expect(rig.machine.room == 1)
        #expect(try rig.events(.settings([(3, 1)]), .settings([(3, 0)])) == [.limitsChanged])
        #expect(rig.machine.room == 0 && rig.machine.openStreamCount == 3)
        _ = try rig.events(.settings([(3, 7)]))
        #expect(rig.machine.room == 4)
        _ = try rig.events(.settings([(3, 0xffff_ffff)]))
        #expect(rig.machine.room == 997)
    }

    @Test func `a slow body goes out as windows allow`() throws {
        var rig = Rig(.init(), settings: [(4, 3)])
        let stream = rig.machine.open(body: Array("abcdefgh".utf8))
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent() == [.data(stream, Array("abc".utf8), flags: 0)])
        rig.machine.pump(into: &rig.output)
        #expect(rig.output.isEmpty)
        #expect(try rig.events(.windowUpdate(stream, 2)) == [.limitsChanged])
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent() == [.data(stream, Array("de".utf8), flags: 0)])
        _ = try rig.events(.settings([(4, 100)]))
        rig.output = []
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent() == [.data(stream, Array("fgh".utf8))])
    }

    @Test func `the head of a request without a body ends its stream`() throws {
        var rig = Rig(.init(), settings: [(4, 0)])
        let stream = rig.machine.open(body: [])
        var head = EncodedHead()
        head.bytes = [0x82]
        rig.machine.appendHead(head, stream: stream, into: &rig.output)
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent() == [.headers(stream, [0x82])])
        let events = try rig.events(.headers(stream, ok))
        guard case .response(stream, 200, _, _) = events.first else { throw SkippedResponse() }
    }

    /// The error that a response is missing.
    private struct SkippedResponse: Error {}

    @Test func `a window that was taken back must be earned again`() throws {
        var rig = Rig(.init(), settings: [(4, 5)])
        let stream = rig.machine.open(body: Array("abcdefgh".utf8))
        rig.machine.pump(into: &rig.output)
        _ = try rig.events(.settings([(4, 1)]), .windowUpdate(stream, 4))
        rig.output = []
        rig.machine.pump(into: &rig.output)
        #expect(rig.output.isEmpty)
        _ = try rig.events(.windowUpdate(stream, 1))
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent() == [.data(stream, Array("f".utf8), flags: 0)])
    }

    @Test func `a stream without a window stops no other, and goes on behind those that wait`() throws {
        var rig = Rig(.init(), settings: [(4, 3)])
        let streams = (0..<3).map { _ in rig.machine.open(body: Array("abcd".utf8)) }
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent() == streams.map { .data($0, Array("abc".utf8), flags: 0) })
        // Only what was stalled and can go on is worth a call of `pump`.
        #expect(try rig.events(.windowUpdate(streams[2], 9)) == [.limitsChanged])
        #expect(try rig.events(.windowUpdate(streams[2], 9)) == [])
        rig.machine.reset(streams[1], .cancel, into: &rig.output)
        rig.output = []
        #expect(rig.machine.pump(into: &rig.output) == [streams[2]])
        #expect(rig.sent() == [.data(streams[2], Array("d".utf8))])
        _ = try rig.events(.settings([(4, 10)]))
        rig.output = []
        #expect(rig.machine.pump(into: &rig.output) == [streams[0]])
        #expect(rig.sent() == [.data(streams[0], Array("d".utf8))])
    }

    @Test func `bodies that wait leave nothing behind when their requests end`() throws {
        var rig = Rig(.init { $0.resetCount = 100_000 }, settings: [(4, 60_000)])
        _ = rig.machine.open(4, bodyByteCount: 16_383)
        let first = rig.machine.open(body: [1, 2, 3, 4])
        rig.machine.pump(into: &rig.output)
        for _ in 0..<1_000 { rig.machine.reset(rig.machine.open(body: [5]), .cancel, into: &rig.output) }
        let last = rig.machine.open(body: [6])
        rig.output = []
        #expect(rig.machine.pump(into: &rig.output) == [] && rig.output.isEmpty)
        _ = try rig.events(.windowUpdate(0, 10))
        #expect(rig.machine.pump(into: &rig.output) == [first, last])
    }

    @Test func `slow bodies are cut into frames and share the connection`() throws {
        var rig = Rig(.init(), settings: [(4, 60_000)])
        _ = rig.machine.open(body: [UInt8](repeating: 1, count: 40_000))
        _ = rig.machine.open(body: [UInt8](repeating: 2, count: 40_000))
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent().map(\.payload.count) == [16_384, 16_384, 7_232, 16_384, 9_151])
        _ = try rig.events(.windowUpdate(0, 20_000))
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent().map(\.payload.count) == [14_465])
    }

    @Test func `one call of pump writes a bounded amount`() {
        var rig = Rig(.init { $0.pumpByteCount = 100 }, settings: [])
        _ = rig.machine.open(body: [UInt8](repeating: 1, count: 150))
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent().map(\.payload.count) == [100])
        rig.machine.pump(into: &rig.output)
        #expect(rig.sent().map(\.payload.count) == [50])
    }

    @Test func `a response before our body is whole ends the body`() throws {
        var rig = Rig(.init(), settings: [(4, 3)])
        let stream = rig.machine.open(body: Array("abcdef".utf8))
        rig.machine.pump(into: &rig.output)
        rig.output = []
        #expect(
            try rig.events(.headers(stream, bad)) == [.response(stream: 1, status: 400, fields: 0..<1, body: 0..<0)])
        #expect(rig.sent() == [.reset(stream, .cancel)])
        _ = try rig.events(.windowUpdate(stream, 9), .reset(stream, .noError))
        rig.machine.pump(into: &rig.output)
        #expect(rig.output.isEmpty)
    }

    @Test func `a window that SETTINGS widen too far ends the connection`() throws {
        var rig = Rig()
        rig.open()
        #expect(rig.fault(.windowUpdate(1, 100_000)) == nil)
        #expect(rig.fault(.settings([(4, 0x7fff_ffff)])) == .flowControlError)
    }

    @Test func `windows are handed back, padding included`() throws {
        var rig = Rig(.init { $0.connectionWindowByteCount = 65_535 })
        rig.open()
        _ = try rig.events(.headers(1, bad, flags: 4))
        let padded = [UInt8](repeating: 255, count: 1) + [UInt8](repeating: 0, count: 255)
        for _ in 0..<127 { _ = try rig.events(.data(1, padded, flags: 8)) }
        #expect(rig.output.isEmpty)
        _ = try rig.events(.data(1, padded, flags: 8))
        #expect(rig.sent() == [.windowUpdate(0, 32_768), .windowUpdate(1, 32_768)])
    }

    @Test func `the connection's window is handed back for streams that are gone`() throws {
        var rig = Rig(.init { $0.connectionWindowByteCount = 65_535 })
        rig.open()
        rig.machine.abandon(1)
        for _ in 0..<4 { _ = try rig.events(.data(1, [UInt8](repeating: 0, count: 10_000), flags: 0)) }
        #expect(rig.sent() == [.windowUpdate(0, 40_000)])
    }

    @Test func `windows that are handed back at half never run out`() throws {
        var rig = Rig(
            .init {
                $0.connectionWindowByteCount = 65_535
                $0.bodyByteCount = 1 << 20
            })
        rig.open()
        _ = try rig.events(.headers(1, bad, flags: 4))
        for _ in 0..<10 { _ = try rig.events(.data(1, [UInt8](repeating: 0, count: 16_384), flags: 0)) }
        let expected = [Frame.windowUpdate(0, 32_768), .windowUpdate(1, 32_768)]
        #expect(rig.sent() == Array(repeatElement(expected, count: 5).joined()))
        #expect(rig.machine.isOpen(1))
    }
}
