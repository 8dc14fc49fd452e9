import HTTP2
import Testing

/// Responses in all the shapes a server may give them.
struct ResponseTests {
    @Test func `a response brings its status, fields and body`() throws {
        var rig = Rig()
        rig.open()
        let events = try rig.events(
            .headers(1, bad + literal("apns-id", "x"), flags: 4), .data(1, Array("{}".utf8)))
        #expect(events == [.response(stream: 1, status: 400, fields: 0..<2, body: 0..<2)])
        #expect(rig.fields(0..<2) == [.init(":status", "400"), .init("apns-id", "x")] && rig.text(0..<2) == "{}")
        #expect(rig.machine.openStreamCount == 0 && rig.output.isEmpty)
    }

    @Test func `responses of one call lie side by side`() throws {
        var rig = Rig()
        rig.open(3)
        let events = try rig.events(
            .headers(3, bad, flags: 4), .headers(5, bad, flags: 4), .data(5, [1, 2], flags: 0), .headers(1, ok),
            .data(3, [9]), .data(5, [3]))
        #expect(
            events == [
                .response(stream: 1, status: 200, fields: 0..<1, body: 0..<0),
                .response(stream: 3, status: 400, fields: 1..<2, body: 0..<1),
                .response(stream: 5, status: 400, fields: 2..<3, body: 1..<4),
            ])
        #expect(rig.arrivals.bytes == [9, 1, 2, 3])
    }

    @Test func `interim responses and trailers are left out`() throws {
        var rig = Rig()
        rig.open()
        let events = try rig.events(
            .headers(1, literal(":status", "100"), flags: 4), .headers(1, literal(":status", "103"), flags: 4),
            .headers(1, bad, flags: 4), .data(1, [7], flags: 0), .headers(1, literal("a", "b")))
        #expect(events == [.response(stream: 1, status: 400, fields: 0..<1, body: 0..<1)])
        #expect(rig.arrivals.fields.count == 1)
    }

    @Test func `padding and priority are no part of a header block`() throws {
        var rig = Rig()
        rig.open()
        let events = try rig.events(.headers(1, [3, 0, 0, 0, 0, 9] + ok + [0, 0, 0], flags: 0x2d))
        #expect(events == [.response(stream: 1, status: 200, fields: 0..<1, body: 0..<0)])
    }

    @Test func `a header block may come in many frames`() throws {
        var rig = Rig()
        rig.open()
        let block = ok + literal("apns-id", "abc")
        let events = try rig.events(
            .headers(1, [2] + block[..<1] + [0, 0], flags: 9), .continuation(1, Array(block[1..<4]), flags: 0),
            .continuation(1, [], flags: 0), .continuation(1, Array(block[4...])))
        #expect(events == [.response(stream: 1, status: 200, fields: 0..<2, body: 0..<0)])
        #expect(rig.fields(1..<2) == [.init("apns-id", "abc")])
    }

    @Test func `padding is no part of a body`() throws {
        var rig = Rig()
        rig.open()
        _ = try rig.events(
            .headers(1, bad, flags: 4), .data(1, [2, 65, 66, 0, 0], flags: 8), .data(1, [0, 67], flags: 9))
        #expect(rig.text(0..<3) == "ABC")
    }

    @Test(arguments: [("content-length", "2"), ("Content-Length: no", "")])
    func `a length is believed when it is right`(name: String, value: String) throws {
        var rig = Rig()
        rig.open()
        let field = value.isEmpty ? [] : literal(name, value)
        #expect(try rig.events(.headers(1, bad + field, flags: 4), .data(1, [1, 2])).count == 1)
        #expect(rig.sent().isEmpty)
    }

    @Test func `the bytes may be cut anywhere`() throws {
        let frames: [Frame] = [
            .headers(1, bad + literal("a", "b"), flags: 4), .ping(3), .data(1, [1, 2, 3]), .headers(3, ok, flags: 1),
            .continuation(3, literal("c", "d")), .windowUpdate(0, 5), .settings([(3, 4)]),
        ]
        let bytes = frames.flatMap(\.bytes)
        for size in 1...bytes.count {
            var rig = Rig()
            rig.open(2)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try rig.receive(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            let statuses = rig.arrivals.events.filter { if case .response = $0 { true } else { false } }
            try #require(statuses.count == 2 && rig.sent() == [.ping(3, flags: 1), .settingsACK], "pieces of \(size)")
            try #require(rig.arrivals.bytes == [1, 2, 3] && rig.machine.room == 4, "pieces of \(size)")
        }
    }

    @Test func `late frames of a stream that we reset are read and forgotten`() throws {
        var rig = Rig()
        rig.open(2)
        rig.machine.reset(1, .cancel, into: &rig.output)
        #expect(rig.sent() == [.reset(1, .cancel)] && !rig.machine.isOpen(1))
        let indexed: [UInt8] = [0x40, 1, 120, 1, 121]
        #expect(
            try rig.events(
                .headers(1, ok + indexed, flags: 4), .data(1, [1, 2]), .windowUpdate(1, 0), .reset(1, .noError)
            ).isEmpty)
        #expect(rig.sent().isEmpty && rig.arrivals.fields.count == 0 && rig.arrivals.bytes.isEmpty)
        _ = try rig.events(.headers(3, ok + [0xbe]))
        #expect(rig.fields(1..<2) == [.init("x", "y")])
    }

    @Test func `frames after the peer's own RST_STREAM are an error of the stream`() throws {
        var rig = Rig()
        rig.open()
        #expect(
            try rig.events(.reset(1, .refusedStream), .reset(1, .streamClosed)) == [.reset(stream: 1, .refusedStream)])
        #expect(try rig.events(.headers(1, ok), .data(1, [1])).isEmpty)
        #expect(rig.sent() == [.reset(1, .streamClosed), .reset(1, .streamClosed)])
    }

    @Test func `a stream that is abandoned is gone without a word`() throws {
        var rig = Rig()
        rig.open(2)
        rig.machine.abandon(3)
        rig.machine.abandon(99)
        #expect(rig.output.isEmpty && rig.machine.openStreamCount == 1 && rig.machine.openStreams(above: 0) == [1])
        #expect(try rig.events(.headers(3, ok)).isEmpty)
    }

    @Test func `a stream that hangs is still found after ten thousand others`() throws {
        var rig = Rig()
        rig.open()
        for _ in 0..<10_000 {
            let stream = rig.open()
            #expect(rig.fault(.headers(stream, ok)) == nil)
            rig.arrivals.removeAll()
        }
        #expect(rig.machine.openStreams(above: 0) == [1] && rig.machine.isOpen(1))
        #expect(try rig.events(.headers(1, bad, flags: 4)).isEmpty)
        #expect(try rig.events(.data(1, [1])) == [.response(stream: 1, status: 400, fields: 0..<1, body: 0..<1)])
        #expect(rig.machine.openStreamCount == 0)
    }
}
