import HTTP2
import Testing

/// Every limit a peer could try to go beyond: allowed up to it, ended one past it.
struct FloodTests {
    private static let few = ConnectionMachine.Options { $0.idleFrameCount = 10 }

    @Test(arguments: [
        Frame.ping(1), .settings([(3, 5)]), .settingsACK, .priority(1), .windowUpdate(0, 1), .windowUpdate(1, 1),
        .ping(1, flags: 1), Frame(type: 200), .reset(3, .cancel), .goAway(9), .data(3, [1], flags: 0),
        .headers(1, literal(":status", "103"), flags: 4),
    ])
    func `frames without progress are limited`(frame: Frame) {
        var rig = Rig(Self.few)
        rig.open(2)
        rig.machine.abandon(3)
        for _ in 0..<10 { #expect(rig.fault(frame) == nil) }
        #expect(rig.fault(frame) == .enhanceYourCalm)
    }

    @Test func `empty DATA is limited`() {
        var rig = Rig(Self.few)
        rig.open()
        #expect(rig.fault(.headers(1, bad, flags: 4)) == nil)
        for _ in 0..<10 { #expect(rig.fault(.data(1, [], flags: 0)) == nil) }
        #expect(rig.fault(.data(1, [0], flags: 8)) == .enhanceYourCalm)
    }

    @Test func `progress pays for more of them`() {
        var rig = Rig(Self.few)
        for _ in 0..<20 {
            let stream = rig.open()
            for _ in 0..<5 { #expect(rig.fault(.windowUpdate(0, 1), .ping(1)) == nil) }
            #expect(rig.fault(.headers(stream, ok)) == nil)
        }
        for _ in 0..<20 {
            for _ in 0..<10 { #expect(rig.fault(.ping(1)) == nil) }
            rig.machine.ping(1, into: &rig.output)
            #expect(rig.fault(.ping(1, flags: 1)) == nil)
        }
    }

    @Test func `time pays for them too, if the owner says so`() {
        var rig = Rig(Self.few)
        for _ in 0..<20 {
            for _ in 0..<10 { #expect(rig.fault(.ping(1)) == nil) }
            rig.machine.passWhile()
        }
    }

    @Test func `streams reset in a row are limited`() {
        var rig = Rig(.init { $0.resetCount = 3 })
        for _ in 0..<3 {
            let stream = rig.open()
            #expect(rig.fault(.reset(stream, .refusedStream)) == nil)
        }
        let answered = rig.open()
        #expect(rig.fault(.headers(answered, ok)) == nil)
        for _ in 0..<3 {
            let stream = rig.open()
            #expect(rig.fault(.data(stream, [1])) == nil)
        }
        let last = rig.open()
        #expect(rig.fault(.reset(last, .refusedStream)) == .enhanceYourCalm)
    }

    @Test func `the frames of a header block are limited`() {
        var rig = Rig(.init { $0.continuationCount = 2 })
        rig.open()
        let empty = Frame.continuation(1, [], flags: 0)
        #expect(rig.fault(.headers(1, ok, flags: 0), empty, empty) == nil)
        #expect(rig.fault(empty) == .enhanceYourCalm)
    }

    @Test func `the bytes of a header block are limited`() {
        var rig = Rig(.init { $0.headerBlockByteCount = 20 })
        rig.open()
        let ten = [UInt8](repeating: 0x88, count: 10)
        #expect(rig.fault(.headers(1, ten, flags: 0), .continuation(1, ten, flags: 0)) == nil)
        #expect(rig.fault(.continuation(1, [0x88])) == .enhanceYourCalm)
    }

    @Test func `a header list too large costs its stream and no more`() throws {
        var rig = Rig(.init { $0.headerListByteCount = 100 })
        rig.open(3)
        let indexed: [UInt8] = [0x40, 1, 120, 1, 121]
        let large = ok + indexed + literal("abcdefgh", "0123456789")
        #expect(try rig.events(.headers(1, large)) == [.reset(stream: 1, .enhanceYourCalm)])
        rig.decoder.listLimit = 100
        #expect(try rig.events(.headers(3, large)) == [.reset(stream: 3, .enhanceYourCalm)])
        #expect(rig.sent() == [.reset(1, .enhanceYourCalm), .reset(3, .enhanceYourCalm)])
        #expect(try rig.events(.headers(5, ok + [0xbe])).count == 1)
        #expect(rig.fields(1..<2) == [.init("x", "y")] && rig.arrivals.fields.listByteCount == 42 + 34)
    }

    @Test func `a body too long costs its stream`() throws {
        var rig = Rig(.init { $0.bodyByteCount = 5 })
        rig.open()
        #expect(try rig.events(.headers(1, bad, flags: 4), .data(1, [1, 2, 3, 4, 5], flags: 0)).isEmpty)
        #expect(try rig.events(.data(1, [6])) == [.reset(stream: 1, .enhanceYourCalm)])
        #expect(rig.sent() == [.reset(1, .enhanceYourCalm)])
    }

    @Test func `the bytes of unfinished responses are limited together`() {
        var rig = Rig(.init { $0.heldByteCount = 100 })
        rig.open(3)
        #expect(rig.fault(.headers(1, bad, flags: 4), .headers(3, bad, flags: 4)) == nil)
        #expect(rig.fault(.data(1, [1], flags: 0), .data(1, [2])) == nil)
        #expect(rig.fault(.headers(5, bad, flags: 4)) == nil)
        #expect(rig.fault(.data(3, [UInt8](repeating: 0, count: 20), flags: 0)) == .enhanceYourCalm)
    }

    @Test func `answers wait for a peer that reads, up to a limit`() {
        var rig = Rig(.init { $0.answerByteCount = 40 })
        for _ in 0..<3 { #expect(rig.fault(.ping(1)) == nil) }
        #expect(rig.fault(.ping(1)) == .enhanceYourCalm)
        var reading = Rig(.init { $0.answerByteCount = 40 })
        for _ in 0..<20 {
            #expect(reading.fault(.ping(1)) == nil)
            reading.output = []
        }
    }
}
