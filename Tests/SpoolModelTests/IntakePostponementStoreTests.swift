import PushModel
import TestSupport
import Testing

@testable import JobFormat
@testable import SpoolModel

struct IntakePostponementStoreTests {
    @Test func `every file is kept once, until its time, as it was given`() {
        for seed in UInt64(0)..<UInt64(trials(5, full: 20)) {
            var random = SeededGenerator(seed: seed)
            var both = Stores()
            for number in 0..<4_000 {
                let name = name("\(Int.random(in: 0..<1_500, using: &random)).json")
                // It grows and shrinks in turn.
                let isGrowing = (number / 1_000).isMultiple(of: 2)
                switch Int.random(in: 0..<8, using: &random) {
                case 0: both.remove(name)
                case 1: both.list(name)
                case 2 where number.isMultiple(of: 50): both.scan(&random)
                case 2...(isGrowing ? 6 : 3): both.insert(name, Int.random(in: 0..<9_999, using: &random))
                default: both.pop(at: noon + .seconds(Int.random(in: 0..<99, using: &random)))
                }
            }
            while !both.expected.isEmpty { both.pop(at: noon + .seconds(9_999)) }
            #expect(both.differences.isEmpty, "seed \(seed)")
        }
    }

    @Test func `no more is kept than there is room for`() {
        var store = IntakePostponements(byteLimit: 340)
        let taken = (1...4).map { store.insert(name("\($0)234.json"), postponement($0), scan: 0) }
        #expect(taken == [true, true, true, false])
        let removed = store.remove(name("2234.json"))
        let isTaken = store.insert(name("4234.json"), postponement(4), scan: 0)
        #expect(removed == postponement(2) && isTaken && store.count == 3)
    }

    @Test func `scans look at a few files each, and come to all of them`() {
        var store = IntakePostponements(byteLimit: 1 << 20)
        let names = (0..<100).map { name("\($0).json") }
        for (number, name) in names.enumerated() { _ = store.insert(name, postponement(number), scan: 0) }
        var looked: [FileName] = []
        for scan in UInt64(1)...4 {
            store.beginScan(looks: 30)
            let mustLook = names.filter { store.noteListed($0, scan: scan) == true }
            store.endScan(scan)
            #expect(mustLook.count == (scan == 4 ? 10 : 30))
            looked += mustLook
        }
        #expect(looked.sorted() == names.sorted() && store.count == 100)
    }
}

/// What is kept of a file that is left alone for so many seconds.
private func postponement(_ seconds: Int) -> IntakePostponement {
    let identity = IntakeSighting.Identity(device: 1, inode: UInt64(seconds), changedAt: noon + .seconds(seconds))
    let sighting = IntakeSighting(identity: identity, byteCount: 1, modifiedAt: noon)
    let entry = IntakeEntry(isPublishedByRename: seconds.isMultiple(of: 2), at: .zero, scan: 0)
    return IntakePostponement(sighting, of: entry, until: noon + .seconds(seconds))
}

/// A store, and what it must do, told in the plainest way.
private struct Stores {
    var store = IntakePostponements(byteLimit: 1 << 24)
    var expected: [FileName: IntakePostponement] = [:]
    /// Where the two were not of one mind.
    var differences: [String] = []
    private var listed: Set<FileName> = []
    private var number: UInt64 = 0

    mutating func insert(_ name: FileName, _ seconds: Int) {
        guard expected[name] == nil else { return compare(store.contains(name), true, "contains \(name)") }
        expected[name] = postponement(seconds)
        listed.insert(name)
        compare(store.insert(name, postponement(seconds), scan: number), true, "insert \(name)")
    }

    mutating func remove(_ name: FileName) {
        compare(store.remove(name), expected.removeValue(forKey: name), "remove \(name)")
        compare(store.count, expected.count, "count")
    }

    mutating func list(_ name: FileName) {
        if expected[name] != nil { listed.insert(name) }
        compare(store.noteListed(name, scan: number) != nil, expected[name] != nil, "listed \(name)")
    }

    mutating func pop(at time: WallTime) {
        let first = expected.values.compactMap(\.until).min()
        compare(store.firstTime, first, "first time")
        let isDue = first.map { $0 <= time } ?? false
        guard let popped = store.popFirst(at: time) else { return compare(isDue, false, "due") }
        compare(popped.postponement.until, first, "time of the first")
        compare(expected.removeValue(forKey: popped.name), popped.postponement, "first")
    }

    /// Ends a scan and begins another, which lists some of what is there.
    mutating func scan(_ random: inout SeededGenerator) {
        store.endScan(number)
        expected = expected.filter { listed.contains($0.key) }
        number += 1
        listed = []
        store.beginScan(looks: 100)
        for name in expected.keys.sorted() where Int.random(in: 0..<10, using: &random) > 0 { list(name) }
    }

    private mutating func compare<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
        if found != wanted { differences.append("\(what): \(found), not \(wanted)") }
    }
}
