import Document
import DoorModel
import PushModel
import TestSupport
import Testing

struct PeerIDsTests {
    private typealias Key = RecentIDs.Key
    private let start = WallTime(epochSeconds: 1_795_262_400)

    private static func key(_ number: Int) -> Key {
        .init(producer: FNV1a([1].span), id: NotificationID(job: JobID(bits: 7), index: number), to: [1])
    }

    private static func records(_ entries: [(Int, WallTime)]) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        for (number, time) in entries { key(number).appendRecord(at: time, to: &bytes) }
        return bytes[...]
    }

    @Test func `an id is claimed, then sent or free, and after its lifetime free again`() {
        var peers = PeerIDs(lifetime: .seconds(60))
        peers.apply(Self.records([(1, Key.claimed), (2, Key.claimed), (3, start)]), from: "a", file: 1)
        #expect((0...3).map { peers.standing(of: Self.key($0), at: start) } == [.free, .claimed, .claimed, .sent])
        peers.apply(Self.records([(1, start), (2, Key.withdrawn)]), from: "a", file: 1)
        #expect((1...2).map { peers.standing(of: Self.key($0), at: start) } == [.sent, .free])
        #expect((1...3).allSatisfy { peers.standing(of: Self.key($0), at: start + .seconds(60)) == .free })
    }

    @Test func `a door that has died is forgotten with its last id`() {
        var peers = PeerIDs(lifetime: .seconds(60))
        for (door, records) in [("a", [(1, start)]), ("b", [(2, Key.claimed)]), ("c", [(3, start + .seconds(30))])] {
            peers.apply(Self.records(records), from: door, file: 1)
        }
        #expect(peers.doorCount == 3)
        peers.forget(at: start + .seconds(60))
        #expect(peers.doorCount == 2 && peers.standing(of: Self.key(2), at: start + .seconds(60)) == .claimed)
        peers.dropClaims(of: "b", file: 1)
        peers.forget(at: start + .seconds(90))
        #expect(peers.doorCount == 0)
    }

    @Test func `what one door takes back stays as another one has it`() {
        var peers = PeerIDs(lifetime: .seconds(60))
        peers.apply(Self.records([(1, start), (2, Key.claimed)]), from: "a", file: 1)
        let other = [(1, Key.claimed), (1, Key.withdrawn), (1, Key.forgotten), (2, Key.claimed), (2, Key.withdrawn)]
        peers.apply(Self.records(other), from: "b", file: 1)
        #expect(peers.standing(of: Self.key(1), at: start) == .sent)
        #expect(peers.standing(of: Self.key(2), at: start) == .claimed)
        peers.apply(Self.records([(1, Key.forgotten)]), from: "a", file: 2)
        #expect(peers.standing(of: Self.key(1), at: start) == .free)
    }

    @Test func `the claims in a file that is over are dropped, and no others`() {
        var peers = PeerIDs(lifetime: .seconds(60))
        peers.apply(Self.records([(1, Key.claimed), (2, start)]), from: "a", file: 1)
        peers.apply(Self.records([(3, Key.claimed)]), from: "a", file: 2)
        peers.dropClaims(of: "a", file: 1)
        #expect((1...3).map { peers.standing(of: Self.key($0), at: start) } == [.free, .sent, .claimed])
    }

    /// Doors that claim one id over and over, their steps in any order: no two of them write it, and one does in the end.
    @Test func `of doors that want one id, whatever their order, exactly one writes it`() {
        for seed in UInt64(0)..<2_000 {
            var random = SeededGenerator(seed: seed)
            var doors = (0..<3).map { _ in TrialDoor() }
            var (logs, written) = ([[UInt8]](repeating: [], count: 3), 0)
            for _ in 0..<10_000 where doors.contains(where: { $0.isAtWork }) {
                let place = Int.random(in: 0..<3, using: &random)
                doors[place].step(place, &logs, &written, at: start)
                // Now and then one rests, as a random pause would make it.
                let rests = Int.random(in: 0..<4, using: &random) == 0
                if rests { doors[place].rest = .random(in: 0...12, using: &random) }
            }
            #expect(written == 1, "seed \(seed)")
            #expect(doors.allSatisfy { !$0.isAtWork }, "seed \(seed)")
        }
    }

    /// A door that wants to write one request.
    private struct TrialDoor {
        private enum State { case idle, claimed, writing, written }

        private var peers = PeerIDs(lifetime: .seconds(60))
        private var read = [0, 0, 0]
        private var state = State.idle
        private var isDone = false
        var rest = 0

        var isAtWork: Bool { !isDone }

        mutating func step(_ own: Int, _ logs: inout [[UInt8]], _ written: inout Int, at now: WallTime) {
            if rest > 0 { rest -= 1 }
            guard rest == 0, !isDone else { return }
            switch state {
            case .idle:
                logs[own] += records([(1, Key.claimed)])
                state = .claimed
            case .claimed:
                for other in 0..<3 where other != own {
                    peers.apply(logs[other][read[other]...], from: "\(other)", file: 1)
                    read[other] = logs[other].count
                }
                let standing = peers.standing(of: key(1), at: now)
                if standing == .free {
                    state = .writing
                } else {
                    logs[own] += records([(1, Key.withdrawn)])
                    (state, isDone) = (.idle, standing == .sent)
                }
            case .writing:
                written += 1
                state = .written
            case .written:
                logs[own] += records([(1, now)])
                isDone = true
            }
        }
    }
}
