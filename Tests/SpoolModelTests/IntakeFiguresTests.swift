import PushModel
import Testing

@testable import JobFormat
@testable import SpoolModel

/// What the intake tells of the files that wait.
struct IntakeFiguresTests {
    private func names(_ count: Int, _ beginning: String = "") -> [FileName] {
        (0..<count).map { name("\(beginning)job-\($0).json") }
    }

    @Test func `files that wait by name are known, too, until they are taken`() {
        var harness = IntakeHarness(attention: 10)
        harness.publish(names(1_000))
        #expect(harness.intake.knownCount == 1_000)
        for _ in 0..<400 { if let action = harness.intake.next(at: harness.now) { harness.perform(action) } }
        #expect(harness.intake.knownCount == 1_000 - harness.log.count && !harness.log.isEmpty)
        harness.run()
        #expect(harness.intake.knownCount == 0)
    }

    @Test func `a name that came again does not count twice`() {
        var harness = IntakeHarness(attention: 1)
        harness.publish(names(3))
        harness.publish(names(3))
        harness.list(names(3))
        #expect(harness.intake.knownCount == 3)
    }

    @Test func `the oldest is the first of all lanes that may be taken`() {
        var harness = IntakeHarness()
        let none = harness.intake.oldestReady
        #expect(none == nil)
        harness.publish(names(2, "bulk-") + names(2) + names(2, "urgent-"))
        let order = harness.files.mapValues(\.identity.changedAt)
        while let action = harness.intake.next(at: harness.now, taking: []) { harness.perform(action) }
        let first = harness.intake.oldestReady
        #expect(first == order[name("bulk-job-0.json")] && first != nil)
        _ = harness.taken(of: LaneSet(.bulk), longest: .max)
        let second = harness.intake.oldestReady
        #expect(second == order[name("job-0.json")] && second != nil)
        harness.run()
        let last = harness.intake.oldestReady
        #expect(last == nil)
    }
}
