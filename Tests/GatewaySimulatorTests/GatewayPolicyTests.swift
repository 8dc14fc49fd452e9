import APNSBinary
import PushModel
import Testing

@testable import GatewaySimulator

/// What a connection answers, without a socket.
struct GatewayPolicyTests {
    @Test(
        arguments: [
            ("refuse", [8, 8, 0, 0, 0, 3]), ("refuse status=255", [8, 255, 0, 0, 0, 3]),
            ("refuse identifier=zero", [8, 8, 0, 0, 0, 0]), ("refuse identifier=last", [8, 8, 0, 0, 0, 2]),
            ("refuse identifier=4294967295", [8, 8, 255, 255, 255, 255]), ("half bytes=2", [8, 8]),
            ("junk", [9, 8, 0, 0, 0, 3]), ("shutdown", [8, 10, 0, 0, 0, 2]), ("close", []),
        ] as [(String, [UInt8])])
    func `the third notification is answered as scripted`(rule: String, reply: [UInt8]) throws {
        var bench = try PolicyBench("nth=3 \(rule)")
        bench.receive(Sample.frames(1...5))
        let (bytes, last) = bench.farewell()
        #expect(bytes == reply)
        #expect(last == .close(until: bench.now + .seconds(2)))
        #expect(bench.accepted == [1, 2])
        #expect(bench.ledger.arrivedCount == 5)
    }

    @Test func `until a late answer is due all is read and discarded`() throws {
        var bench = try PolicyBench("nth=2 refuse delay=500ms")
        bench.receive(Sample.frames(1...3))
        #expect(bench.step() == .read(atMost: GatewayPolicy.chunkByteCount, until: bench.now + .milliseconds(500)))
        bench.advance(by: .milliseconds(499))
        bench.receive(Sample.frames(4...9))
        bench.advance(by: .milliseconds(1))
        #expect(bench.step() == .send([8, 8, 0, 0, 0, 2]))
        #expect(bench.ledger.discardedCount == 7)
    }

    @Test func `a late answer comes although the client has ended its stream`() throws {
        var bench = try PolicyBench("nth=1 refuse delay=1s")
        bench.receive(Sample.frames(1...1))
        bench.end()
        #expect(bench.step() == .wait(until: bench.now + .seconds(1)))
        bench.advance(by: .seconds(1))
        #expect(bench.step() == .send([8, 8, 0, 0, 0, 1]))
    }

    @Test(arguments: [("cut", GatewayPolicy.Step.cut), ("reset", .release(resetting: true))])
    func `an end without a word has several forms`(word: String, step: GatewayPolicy.Step) throws {
        var bench = try PolicyBench("after=2 \(word)")
        bench.receive(Sample.frames(1...5))
        #expect(bench.step() == step)
        #expect(bench.accepted == [1, 2])
    }

    @Test func `a stall leaves what it has not read for later`() throws {
        var bench = try PolicyBench("after=2 stall for=3s")
        bench.receive(Sample.frames(1...5))
        #expect(bench.accepted == [1, 2])
        #expect(bench.step() == .wait(until: bench.now + .seconds(3)))
        bench.advance(by: .seconds(3))
        bench.retry()
        #expect(bench.accepted == [1, 2, 3, 4, 5])
        #expect(bench.step() == .read(atMost: GatewayPolicy.chunkByteCount, until: nil))
    }

    @Test func `a black hole never ends`() throws {
        var bench = try PolicyBench("nth=2 blackhole")
        bench.receive(Sample.frames(1...5))
        bench.advance(by: .seconds(1_000_000))
        #expect(bench.step() == .wait(until: nil))
        #expect(bench.accepted == [1])
    }

    @Test func `a slow gateway reads no more than its rate`() throws {
        var bench = try PolicyBench("slow rate=1000")
        #expect(bench.step() == .read(atMost: 100, until: nil))
        bench.receive([UInt8](Sample.frames(1...2).prefix(100)))
        #expect(bench.step() == .wait(until: bench.now + .milliseconds(100)))
        bench.advance(by: .milliseconds(100))
        #expect(bench.step() == .read(atMost: 100, until: nil))
    }

    @Test func `an answer may leave the connection open and deaf`() throws {
        var bench = try PolicyBench("nth=1 refuse then=stay")
        bench.receive(Sample.frames(1...1))
        let (bytes, last) = bench.farewell()
        #expect(bytes.count == 6)
        #expect(last == .read(atMost: GatewayPolicy.chunkByteCount, until: nil))
        bench.receive(Sample.frames(2...3))
        #expect(bench.ledger.discardedCount == 2)
    }

    @Test func `the listening socket is closed between two notifications`() throws {
        var bench = try PolicyBench("after=1 stop-listening for=4s")
        bench.receive(Sample.frames(1...3))
        #expect(bench.step() == .stopListening(.seconds(4)))
        #expect(bench.step() == .read(atMost: GatewayPolicy.chunkByteCount, until: nil))
        #expect(bench.accepted == [1, 2, 3])
    }

    @Test func `shutdown needs no further notification`() throws {
        var bench = try PolicyBench("after=2 shutdown")
        bench.receive(Sample.frames(1...2))
        #expect(bench.farewell().bytes == [8, 10, 0, 0, 0, 2])
    }

    @Test func `a connection may be closed before it brings anything`() throws {
        var bench = try PolicyBench("connection=2 close-after-handshake")
        #expect(bench.step() == .read(atMost: GatewayPolicy.chunkByteCount, until: nil))
        bench.reconnect()
        #expect(bench.step() == .close(until: bench.now + .seconds(2)))
    }

    @Test func `what ends in good order is closed in good order`() throws {
        var bench = try PolicyBench()
        bench.receive(Sample.frames(1...1) + [2, 0])
        bench.end()
        #expect(bench.step() == .close(until: bench.now + .seconds(2)))
        #expect(bench.step() == .release(resetting: false))
        #expect(bench.ledger.arrivedCount == 1)
    }
}
