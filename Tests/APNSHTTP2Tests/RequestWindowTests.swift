import APNSHTTP2
import PushModel
import TestSupport
import Testing

@testable import PushHTTP2

struct RequestWindowTests {
    @Test func `places are those of a client's streams`() {
        #expect([0, 1, 2, 1000].map(RequestWindow.stream) == [1, 3, 5, 2001])
        #expect([1, 3, 5, 2001].map(RequestWindow.place) == [0, 1, 2, 1000])
    }

    @Test func `answers in any order become few batches`() {
        var window = RequestWindow()
        window.append(Work.batch(0..<4), at: .zero)
        window.append(Work.batch(10..<14), at: .zero + .seconds(1))
        let closed = [1, 0, 2, 5, 6].filter { window.close($0) }
        #expect(closed.count == 5)
        #expect(window.batches(at: [0, 1, 2, 5, 6]).map(\.indices) == [0..<3, 11..<13])
        #expect(window.count == 3)
    }

    @Test func `a request is over once`() {
        var window = RequestWindow()
        window.append(Work.batch(0..<2), at: .zero)
        let wasOpen = [0, 0, 2, -1].map { window.close($0) }
        #expect(wasOpen == [true, false, false, false])
    }

    @Test func `the oldest open request tells how long an answer has been missing`() {
        var window = RequestWindow()
        window.append(Work.batch(0..<2), at: .zero)
        window.append(Work.batch(2..<4), at: .zero + .seconds(5))
        #expect(window.oldest == .zero)
        for place in 0..<2 { _ = window.close(place) }
        window.trim()
        #expect(window.oldest == .zero + .seconds(5))
    }

    @Test func `what was written too long ago is closed, and nothing else`() {
        var window = RequestWindow()
        for second in 0..<3 {
            window.append(Work.batch(second * 2..<second * 2 + 2), at: .zero + .seconds(second))
        }
        _ = window.close(1)
        let closed = window.closeAll(writtenBy: .zero + .seconds(1))
        #expect(closed == [0, 2, 3])
        #expect(window.count == 2)
    }

    @Test(arguments: 0..<50) func `random answers leave what a plain list leaves`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var (window, model, next): (RequestWindow, [Int: Int], Int) = (RequestWindow(), [:], 0)
        for _ in 0..<300 {
            if Bool.random(using: &random) {
                let count = Int.random(in: 1...40, using: &random)
                for index in 0..<count { model[next + index] = 7 * next + index }
                window.append(Work.batch(7 * next..<7 * next + count), at: .zero)
                next += count
            } else {
                let places = model.keys.sorted().filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
                let closed = places.filter { window.close($0) }
                #expect(closed == places, "seed \(seed)")
                #expect(window.batches(at: places).flatMap(\.indices) == places.map { model[$0] ?? -1 }, "seed \(seed)")
                for place in places { model[place] = nil }
                window.trim()
            }
            #expect(window.count == model.count, "seed \(seed)")
        }
        let left = window.closeAll()
        #expect(left == model.keys.sorted(), "seed \(seed)")
    }
}
