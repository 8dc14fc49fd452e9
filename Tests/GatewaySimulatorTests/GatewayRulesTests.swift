import APNSBinary
import PushModel
import TestSupport
import Testing

@testable import GatewaySimulator

/// What a strict gateway refuses of its own accord.
struct GatewayRulesTests {
    @Test func `a flush probe is refused by name`() throws {
        var bench = try PolicyBench()
        var bytes = Sample.frames(1...2)
        FrameEncoder.appendFlushProbe(3, format: .frame, to: &bytes)
        bench.receive(bytes)
        #expect(bench.farewell().bytes == [8, 2, 0, 0, 0, 3])
    }

    @Test func `a flush probe may be answered with identifier 0`() throws {
        var rules = GatewayRules()
        rules.namesZeroForEmptyTokens = true
        var bench = try PolicyBench(rules: rules)
        var bytes: [UInt8] = []
        FrameEncoder.appendFlushProbe(3, format: .enhanced, to: &bytes)
        bench.receive(bytes)
        #expect(bench.farewell().bytes == [8, 2, 0, 0, 0, 0])
    }

    @Test(arguments: [(1, false), (4, false), (31, false), (32, true), (100, true)])
    func `a token shorter than Apple's is status 5`(byteCount: Int, isTaken: Bool) throws {
        var bench = try PolicyBench()
        var encoder = FrameEncoder(format: .frame, attributes: Attributes())
        var bytes: [UInt8] = []
        let token = [UInt8](repeating: 7, count: byteCount)
        encoder.append(token: token[...], payload: Array("{}".utf8)[...], identifier: 9, to: &bytes)
        bench.receive(bytes)
        if isTaken { #expect(bench.accepted == [9]) } else { #expect(bench.farewell().bytes == [8, 5, 0, 0, 0, 9]) }
    }

    @Test func `an unregistered token is status 8 for commands with an answer and a close for the other`() throws {
        var rules = GatewayRules()
        rules.unregistered = [Sample.token(2), [1]]
        for format in FrameFormat.allCases {
            var bench = try PolicyBench(rules: rules)
            bench.receive(Sample.frames(1...3, format: format))
            #expect(bench.farewell().bytes == (format == .simple ? [] : [8, 8, 0, 0, 0, 2]))
            #expect(bench.ledger.refusedCountByStatus == [8: 1])
        }
    }

    @Test func `limits can be raised`() throws {
        var rules = GatewayRules()
        rules.payloadLimits.enhanced = 2048
        var bench = try PolicyBench(rules: rules)
        bench.receive(Sample.frames(1...1, format: .enhanced, payload: String(repeating: "x", count: 2048)))
        #expect(bench.accepted == [1])
    }

    @Test func `a payload that is no object is refused on request`() throws {
        var rules = GatewayRules()
        rules.refusesOtherThanObjects = true
        var bench = try PolicyBench(rules: rules)
        bench.receive(Sample.frames(1...1) + Sample.frames(2...2, payload: "[]"))
        #expect(bench.farewell().bytes == [8, 1, 0, 0, 0, 2])
    }

    @Test func `answers take as long as configured`() throws {
        var rules = GatewayRules()
        rules.answerDelay = .milliseconds(300)
        rules.unregistered = [Sample.token(1)]
        var bench = try PolicyBench(rules: rules)
        bench.receive(Sample.frames(1...2))
        #expect(bench.step() == .read(atMost: GatewayPolicy.chunkByteCount, until: bench.now + .milliseconds(300)))
    }

    @Test(
        arguments: [
            ([7], []), ([2, 0xFF, 0, 0, 0], [8, 128, 0, 0, 0, 0]),
            ([2, 0, 0, 0, 9, 3, 0, 4, 0, 0, 0, 5, 9, 9], [8, 128, 0, 0, 0, 5]),
        ] as [([UInt8], [UInt8])])
    func `what cannot be read ends the connection`(garbage: [UInt8], reply: [UInt8]) throws {
        var bench = try PolicyBench()
        bench.receive(Sample.frames(1...1) + garbage)
        #expect(bench.farewell().bytes == reply)
        bench.receive(Sample.frames(2...2))
        #expect(bench.accepted == [1])
    }

    @Test func `no bytes trap, however they are cut`() throws {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var bytes = Sample.frames(1...4, format: FrameFormat.allCases.randomElement(using: &random) ?? .frame)
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            var bench = try PolicyBench()
            while !bytes.isEmpty {
                let piece = bytes.prefix(.random(in: 1...40, using: &random))
                bench.receive(Array(piece))
                bytes.removeFirst(piece.count)
            }
            #expect(bench.ledger.arrivedCount <= 16, "seed \(seed)")
        }
    }
}
