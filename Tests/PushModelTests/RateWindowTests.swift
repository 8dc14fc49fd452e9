import PushModel
import TestSupport
import Testing

struct RateWindowTests {
    private let start = Moment(nanoseconds: 1_000_000_000_000)

    @Test(arguments: [(20, Rate.Unit.hour), (60, .minute), (1, .hour), (5, .second), (10_000, .second)])
    func `the whole rate may come at once, and no more until a unit has passed`(count: Int, unit: Rate.Unit) throws {
        var window = RateWindow(try #require(Rate(count, per: unit)))
        #expect(window.available(at: .zero) == count && window.available(at: start) == count)
        for _ in 0..<count { window.record(1, at: start) }
        #expect(window.next == start + unit.duration)
        #expect(window.available(at: start) == 0)
        #expect(window.available(at: start + (unit.duration - .milliseconds(1))) == 0)
        #expect(window.available(at: start + unit.duration) == count)
    }

    @Test func `each counts for a unit from when it was taken`() throws {
        var window = RateWindow(try #require(Rate(3, per: .minute)))
        for second in [Int64(0), 20, 40] { window.record(1, at: start + .seconds(second)) }
        #expect(window.available(at: start + .seconds(59)) == 0 && window.next == start + .seconds(60))
        #expect(window.available(at: start + .seconds(60)) == 1)
        window.record(1, at: start + .seconds(60))
        #expect(window.available(at: start + .seconds(79)) == 0 && window.next == start + .seconds(80))
    }

    @Test func `a job beyond the rate delays the next one as long as it would have had to wait`() throws {
        var window = RateWindow(try #require(Rate(10)))
        window.record(4, at: start)
        window.record(31, at: start + .milliseconds(500))
        #expect(window.next == start + .milliseconds(3500))
        #expect(window.available(at: start + .milliseconds(3499)) == 0)
        #expect(window.available(at: start + .milliseconds(3500)) == 9)
        #expect(window.available(at: start + .milliseconds(4500)) == 10)
    }

    @Test func `what is given back may be taken again`() throws {
        var window = RateWindow(try #require(Rate(1, per: .hour)))
        window.giveBack()
        window.record(1, at: start)
        window.giveBack()
        #expect(window.available(at: start) == 1)
    }

    @Test func `a changed rate counts what was taken before`() throws {
        var window = RateWindow(try #require(Rate(5, per: .hour)))
        window.record(5, at: start)
        window.rate = try #require(Rate(7, per: .hour))
        #expect(window.available(at: start + .seconds(1)) == 2)
    }

    @Test func `in no unit of time is more taken than the rate, and nearly as much can be`() throws {
        for seed in UInt64(0)..<60 {
            var random = SeededGenerator(seed: seed)
            let unit = Rate.Unit.allCases.randomElement(using: &random) ?? .second
            let count = Int.random(in: 1...3000, using: &random)
            let rate = try #require(Rate(count, per: unit))
            var (window, now) = (RateWindow(rate), start)
            var taken: [(time: Moment, count: Int)] = []
            while now - start < unit.duration * 10 {
                now = now + unit.duration / Int.random(in: 20...200, using: &random)
                let count = min(window.available(at: now), .random(in: 0...rate.count, using: &random))
                window.record(count, at: now)
                taken.append((now, count))
            }
            for (place, first) in taken.enumerated() {
                let sum = taken[place...].prefix { $0.time - first.time < unit.duration }.reduce(0) { $0 + $1.count }
                #expect(sum <= rate.count, "seed \(seed): \(sum) of \(rate)")
            }
            let total = taken.reduce(0) { $0 + $1.count }
            #expect(total >= rate.count * 8, "seed \(seed): \(total) of \(rate)")
        }
    }
}
