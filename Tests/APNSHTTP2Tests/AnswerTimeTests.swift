import APNSHTTP2
import PushModel
import TestSupport
import Testing

@testable import PushHTTP2

/// How long answers took.
struct AnswerTimeTests {
    private static func milliseconds(_ count: Int) -> Moment { .zero + .milliseconds(count) }

    /// An answer without a body: 200, or with another status in HPACK's static table.
    private static func answer(stream: UInt8, status: UInt8 = 0x88) -> [UInt8] {
        [0, 0, 1, 1, 5, 0, 0, 0, stream, status]
    }

    @Test func `each place counts from the write that it was in`() {
        var window = RequestWindow()
        window.append(Work.batch(0..<4), at: Self.milliseconds(0))
        window.append(Work.batch(4..<6), at: Self.milliseconds(30))
        window.append(Work.batch(6..<9), at: Self.milliseconds(40))
        var times = Histogram(bounds: [.milliseconds(5), .milliseconds(15), .milliseconds(50)])
        window.tally([0, 3, 5, 6, 8], at: Self.milliseconds(45), into: &times)
        #expect(times.counts == [2, 1, 2, 0])
        #expect(abs(times.seconds - (2 * 0.045 + 0.015 + 2 * 0.005)) < 1e-9)
    }

    @Test func `random writes and answers take as long as a plain list says`() {
        for seed in UInt64(0)..<100 {
            var random = SeededGenerator(seed: seed)
            var (window, written, now) = (RequestWindow(), [Int: Moment](), Moment.zero)
            var (times, plain) = (Histogram.ofAnswers, Histogram.ofAnswers)
            var next = 0
            for _ in 0..<200 {
                now = now + .milliseconds(Int.random(in: 2...400, using: &random))
                let count = Int.random(in: 1...20, using: &random)
                window.append(Work.batch(next..<next + count), at: now)
                for place in next..<next + count { written[place] = now }
                next += count
                now = now + .milliseconds(Int.random(in: 0...60, using: &random))
                let answered = written.keys.sorted().filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
                for place in answered where window.close(place) {
                    plain.add(nanoseconds: (now - (written[place] ?? now)).wholeNanoseconds)
                    written[place] = nil
                }
                window.tally(answered, at: now, into: &times)
                window.trim()
            }
            #expect(times.counts == plain.counts, "seed \(seed)")
            #expect(times.count == next - written.count, "seed \(seed)")
        }
    }

    @Test func `acceptances and refusals are answers, and what stays away is none`() {
        var rig = SessionRig()
        rig.write(Work.batch(0..<4))
        _ = rig.hear(Self.answer(stream: 3) + Self.answer(stream: 1), at: Self.milliseconds(20))
        // 404, which says why in a body as a rule.
        _ = rig.hear(Self.answer(stream: 5, status: 0x8D), at: Self.milliseconds(300))
        _ = rig.tick(at: .zero + .seconds(31), handedOver: rig.written)
        let times = rig.client.answerTimes
        #expect(times.count == 3)
        #expect(abs(times.seconds - 0.34) < 1e-9)
    }

    /// A client with requests in flight, at a gateway that lets it have so many streams.
    private static func rig(requests: Int, streams: Int? = nil) -> SessionRig {
        var rig = SessionRig()
        if let streams { _ = rig.hear([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, UInt8(streams)]) }
        rig.write(Work.batch(0..<requests))
        return rig
    }

    @Test(arguments: [(1, nil), (2, Duration.nanoseconds(62_500)), (48, .microseconds(1500)), (200, .milliseconds(3))])
    func `answers of a distant gateway gather for a part of the way, and those of a near one for no time`(
        way: Int, time: Duration?
    ) {
        var rig = Self.rig(requests: 20)
        #expect(rig.client.gathering(after: 30) == nil)
        _ = rig.hear(Self.answer(stream: 1), at: Self.milliseconds(way))
        #expect(rig.client.gathering(after: 30)?.time == time)
    }

    @Test func `answers that wait in the gateway's queue gather for a part of that time`() {
        var rig = Self.rig(requests: 20)
        _ = rig.hear(Self.answer(stream: 1), at: Self.milliseconds(1))
        _ = rig.hear(Self.answer(stream: 3), at: Self.milliseconds(17))
        // The mean is 2 ms by now.
        #expect(rig.client.gathering(after: 60)?.time == .nanoseconds(1_000_000 / 32 + 1_000_000 / 4))
        _ = rig.hear(Self.answer(stream: 5), at: Self.milliseconds(500))
        #expect(rig.client.gathering(after: 90)?.time == .milliseconds(3))
    }

    @Test func `where all streams are in use, as many answers gather as usually come in that time`() {
        var rig = Self.rig(requests: 99, streams: 99)
        // Each answer makes room for another request, and takes as long as the way.
        func answer(_ place: UInt8) {
            _ = rig.hear(Self.answer(stream: 2 * place + 1), at: Self.milliseconds(32))
            rig.write(Work.batch(Int(place) + 99..<Int(place) + 100), at: Self.milliseconds(32))
        }
        answer(0)
        // The length of an answer is not known yet, since the handshake precedes it.
        #expect(rig.client.gathering(after: 5000)?.time == .milliseconds(1))
        answer(1)
        let more = rig.client.gathering(after: 5000 + 64)
        #expect(more?.byteCount == (99 / 32 + 1) * 64)
        #expect(more?.time == .milliseconds(32))
        // Nobody answers in less than a byte.
        answer(2)
        #expect(rig.client.gathering(after: 5000 + 64)?.byteCount == 99 / 32 + 1)
        // That one frees a stream.
        _ = rig.hear(Self.answer(stream: 7), at: Self.milliseconds(32))
        #expect(rig.client.gathering(after: 5000 + 128)?.time == .milliseconds(1))
    }

    @Test func `an answer's length falls at once, and rises slowly`() {
        var size = AnswerSize()
        #expect(size.note(6_000, answered: 1) == nil)
        #expect(size.note(6_000 + 400, answered: 5) == 100)
        #expect(size.note(6_400 + 40, answered: 6) == 40)
        // A day of PONGs.
        #expect(size.note(9_000_000, answered: 7) == 45)
        #expect(size.note(9_000_000, answered: 7) == 45)
        #expect(size.note(9_000_000 + 530, answered: 17) == 46)
    }

    @Test func `with few requests in flight answers do not gather`() {
        var rig = Self.rig(requests: 17)
        _ = rig.hear(Self.answer(stream: 1), at: Self.milliseconds(50))
        #expect(rig.client.gathering(after: 30) != nil)
        _ = rig.hear(Self.answer(stream: 3), at: Self.milliseconds(50))
        #expect(rig.client.gathering(after: 60) == nil)
    }
}
