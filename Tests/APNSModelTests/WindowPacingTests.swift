import APNSModel
import TestSupport
import Testing

struct WindowPacingTests {
    private var random = SeededGenerator(seed: 1)
    private var pacing = WindowPacing(full: 1000, backOff: BackOff(first: .seconds(1), ceiling: .seconds(60)))

    private func moment(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    @Test mutating func `each end in doubt halves the window, to one, and then the pauses grow`() {
        var (limits, pauses) = ([Int](), [Duration]())
        for number in 0..<12 {
            pauses.append(pacing.endedInDoubt(at: moment(number), using: &random))
            limits.append(pacing.limit)
        }
        #expect(limits == [500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1, 1])
        #expect(pauses.prefix(9).allSatisfy { $0 == .zero })
        for (pause, longest) in zip(pauses.dropFirst(9), [1, 2, 4]) {
            #expect(.seconds(longest) / 2 <= pause && pause <= .seconds(longest), "\(pauses)")
        }
    }

    @Test mutating func `one end costs two seconds, and is forgotten when the window is whole`() {
        _ = pacing.endedInDoubt(at: moment(0), using: &random)
        pacing.accepted(at: moment(1))
        #expect(pacing.limit == 500 && pacing.isReduced)
        pacing.accepted(at: moment(2))
        #expect(pacing.limit == 1000 && !pacing.isReduced)
        pacing.accepted(at: moment(4))
        #expect(pacing.endedInDoubt(at: moment(5), using: &random) == .zero)
    }

    @Test mutating func `after many ends the window grows slowly, and only while something is accepted`() {
        for number in 0..<20 { _ = pacing.endedInDoubt(at: moment(number), using: &random) }
        var limits: [Int] = []
        for second in 19..<19 + 700 {
            pacing.accepted(at: moment(second))
            if limits.last != pacing.limit { limits.append(pacing.limit) }
        }
        #expect(limits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000])
    }

    @Test mutating func `a gateway that drops what it has each time gets little more than one a connection`() {
        // A server that closes after a thousand requests, at once or after a pause, and forgets what is in flight.
        var (now, doubtCount) = (moment(0), 0)
        for _ in 0..<60 {
            for _ in 0..<1000 { pacing.accepted(at: now) }
            doubtCount += pacing.limit
            now = now + .seconds(1) + pacing.endedInDoubt(at: now, using: &random)
        }
        #expect(doubtCount < 2300 && pacing.limit <= 2, "\(doubtCount) in doubt, \(pacing.limit)")
    }
}
