import TestSupport
import Testing

@testable import PushHTTP2

struct DeliveryMarksTests {
    /// The same by definition: everything is kept, and looked through for every question.
    private struct Model {
        /// Where the head of each request ends, and its body if that is separate; `nil` while that is not known.
        var heads: [Int?] = []
        var bodies: [Int: Int?] = [:]
        var (marked, handedOver) = (0, 0)

        func hasLeft(_ place: Int) -> Bool {
            guard let head = heads[place], head <= handedOver else { return false }
            return bodies[place].map { $0.map { $0 < handedOver } ?? false } ?? true
        }
        func isUnfinished(_ place: Int) -> Bool { bodies[place].map { $0 == nil } ?? false }
        mutating func mark(_ length: Int) {
            heads = heads.map { $0 ?? length }
            marked = length
        }
        func isAcknowledged(_ place: Int, within byteCount: Int) -> Bool {
            guard let head = heads[place], head <= min(handedOver, byteCount) else { return false }
            return bodies[place].map { $0.map { $0 < byteCount } ?? false } ?? true
        }
        var isPassed: Bool {
            heads.allSatisfy { $0.map { $0 <= handedOver } ?? true }
                && bodies.values.allSatisfy { $0.map { $0 < handedOver } ?? true }
        }
    }

    @Test(arguments: 0..<50)
    func `requests have left as if each were looked at by itself`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var (marks, model, length) = (DeliveryMarks(), Model(), 0)
        for _ in 0..<2_000 {
            switch random.next() % 6 {
            case 0, 1:
                if random.next() % 2 == 0 {
                    marks.begin(model.heads.count)
                    model.bodies[model.heads.count] = .some(nil)
                }
                model.heads.append(nil)
            case 2:
                guard let place = model.bodies.filter({ $0.value == nil }).keys.min() else { continue }
                marks.finish(place)
                model.bodies[place] = .some(model.marked)
            case 3:
                guard let place = model.bodies.keys.sorted().randomElement(using: &random) else { continue }
                marks.forget(place)
                model.bodies[place] = nil
            default:
                length += Int(random.next() % 20) + 1
                marks.add(end: model.heads.count, offset: length)
                model.mark(length)
                model.handedOver += Int(random.next() % UInt64(length - model.handedOver + 1))
                marks.advance(to: model.handedOver)
                #expect(marks.isPassed == model.isPassed)
            }
        }
        for place in model.heads.indices {
            #expect(marks.hasLeft(place) == model.hasLeft(place))
            #expect(marks.isUnfinished(place) == model.isUnfinished(place))
        }
        marks.trim(before: model.heads.count / 2)
        for place in model.heads.count / 2..<model.heads.count where !marks.isUnfinished(place) {
            let byteCount = Int(random.next() % UInt64(length + 1))
            #expect(marks.areAcknowledged([place], within: byteCount) == model.isAcknowledged(place, within: byteCount))
        }
    }
}
