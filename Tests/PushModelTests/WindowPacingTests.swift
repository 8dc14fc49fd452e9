import PushModel
import TestSupport
import Testing

struct WindowPacingTests {
    private var random = SeededGenerator(seed: 1)
    private var pacing = WindowPacing(full: 1000, backOff: BackOff(first: .seconds(1), ceiling: .seconds(60)))

    private func moment(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    /// Ends a connection with a full window in doubt.
    private mutating func end(_ acceptedCount: Int, at second: Int) -> Duration {
        pacing.ended(inDoubt: pacing.limit, accepted: acceptedCount, at: moment(second), using: &random)
    }

    @Test mutating func `each end in doubt halves the window, to one, and then the pauses grow`() {
        var (limits, pauses) = ([Int](), [Duration]())
        for number in 0..<12 {
            pauses.append(end(0, at: number))
            limits.append(pacing.limit)
        }
        #expect(limits == [500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1, 1])
        #expect(pauses.prefix(9).allSatisfy { $0 == .zero })
        for (pause, longest) in zip(pauses.dropFirst(9), [1, 2, 4]) {
            #expect(.seconds(longest) / 2 <= pause && pause <= .seconds(longest), "\(pauses)")
        }
    }

    @Test mutating func `one end costs two seconds, and is forgotten when the window is whole`() {
        _ = end(0, at: 0)
        pacing.accepted(at: moment(1))
        #expect(pacing.limit == 500 && pacing.isReduced)
        pacing.accepted(at: moment(2))
        #expect(pacing.limit == 1000 && !pacing.isReduced)
        pacing.accepted(at: moment(4))
        let pause = end(0, at: 5)
        #expect(pause == .zero)
    }

    @Test mutating func `after many ends the window grows slowly, and only while something is accepted`() {
        for number in 0..<20 { _ = end(0, at: number) }
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
            now = now + .seconds(1)
            let pause = pacing.ended(inDoubt: pacing.limit, accepted: 1000, at: now, using: &random)
            #expect(pause == .zero)
        }
        // An eighth of the accepted ones, and the first three connections.
        #expect(doubtCount < 60 * 125 + 1750 && pacing.limit <= 250, "\(doubtCount) in doubt, \(pacing.limit)")
    }

    /// How many a server accepts on each connection before it cuts it, and what the window comes to.
    @Test(arguments: [(0, 1), (1, 1), (7, 1), (8, 1), (30, 3), (100, 7), (1000, 125), (8000, 1000)])
    mutating func `a connection that made progress pauses nothing, and the window fits it`(accepted: Int, limit: Int) {
        let pauses = (0..<40).map { end(accepted, at: $0) }
        #expect(pacing.limit == limit)
        #expect(pauses.allSatisfy { $0 == .zero } == (accepted > 0), "\(pauses)")
    }

    @Test mutating func `progress ends the pauses, and they begin anew after it`() {
        for number in 0..<20 { _ = end(0, at: number) }
        let pauses = [(0, 20), (1, 21), (0, 22)].map { end($0.0, at: $0.1) }
        #expect(pauses[0] > .seconds(16) && pauses[1] == .zero && pauses[2] <= .seconds(1), "\(pauses)")
    }
}
