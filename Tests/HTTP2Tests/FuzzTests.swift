import HTTP2
import TestSupport
import Testing

/// Whatever comes, it is an event, an answer or a fault.
struct FuzzTests {
    private static func randomFrame(_ random: inout SeededGenerator) -> Frame {
        let stream = UInt32.random(in: 0...12, using: &random)
        let count = Int.random(in: 0...40, using: &random)
        let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        return Frame(
            type: .random(in: 0...11, using: &random), flags: .random(in: 0...255, using: &random), stream: stream,
            payload: payload)
    }

    private static func rightFrame(_ random: inout SeededGenerator) -> Frame {
        let stream = UInt32.random(in: 0...5, using: &random) * 2 + 1
        let frames: [Frame] = [
            .headers(stream, ok), .headers(stream, bad, flags: 4), .data(stream, [1, 2], flags: 0), .data(stream, [3]),
            .settings([(4, .random(in: 0...99_999, using: &random))]), .settings([(1, 0), (1, 99)]), .ping(3),
            .windowUpdate(0, 9), .windowUpdate(stream, 9), .reset(stream, .cancel), .goAway(stream, debug: "x"),
            .headers(stream, bad, flags: 0), .continuation(stream, literal("a", "b")), .settingsACK,
        ]
        return frames[Int.random(in: 0..<frames.count, using: &random)]
    }

    /// Feeds one connection until it ends. Returns whether it ended.
    private static func feed(_ rig: inout Rig, _ bytes: [UInt8], using random: inout SeededGenerator) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(.random(in: 1...30, using: &random))
            rest = rest.dropFirst(piece.count)
            do throws(ConnectionFault) { try rig.receive(Array(piece)) } catch { return true }
            if rig.machine.capacity(bodyByteCount: 3) > 0 { _ = rig.machine.open(1, bodyByteCount: 3) }
            if rig.machine.room > 0 { _ = rig.machine.open(body: Array(piece)) }
            rig.machine.pump(into: &rig.output)
        }
        return false
    }

    @Test func `random frames never trap`() {
        var endings = 0
        for seed in UInt64(0)..<700 {
            var random = SeededGenerator(seed: seed)
            var rig = Rig(.init(streamLimit: 60))
            let bytes = (0..<30).flatMap { _ in Self.randomFrame(&random).bytes }
            endings += Self.feed(&rig, bytes, using: &random) ? 1 : 0
        }
        #expect(endings > 500)
    }

    @Test func `right frames with a few wrong bytes never trap`() {
        var survivals = 0
        for seed in UInt64(0)..<700 {
            var random = SeededGenerator(seed: seed)
            var rig = Rig(.init(streamLimit: 60))
            var bytes = (0..<12).flatMap { _ in Self.rightFrame(&random).bytes }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            survivals += Self.feed(&rig, bytes, using: &random) ? 0 : 1
        }
        #expect(survivals > 10)
    }

    @Test func `bytes without any order never trap`() {
        var endings = 0
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            var rig = Rig(.init(streamLimit: 60), settings: seed.isMultiple(of: 2) ? [] : nil)
            let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
            endings += Self.feed(&rig, bytes, using: &random) ? 1 : 0
        }
        #expect(endings > 300)
    }
}
