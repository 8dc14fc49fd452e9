import LinuxIO
import PushModel

@testable import Gateways

/// A gateway without connections: it keeps what it gets, and a test decides what becomes of it.
actor GatewayDouble: PushGateway {
    nonisolated let events = GatewayEvents()
    /// The notifications that wait.
    private var waiting: [Batch] = []
    /// The notifications on a connection.
    private var written: [Batch] = []
    /// The indices of all notifications that it was ever given.
    private(set) var handed: [Int] = []
    /// How many settled notifications the owner has recorded.
    private(set) var recordedCount = 0
    /// How many notifications the owner has recorded as about to be written.
    private(set) var announcedCount = 0
    private let reactor: Reactor
    private let acceptsAll: Bool

    /// Creates one that gives no outcomes of its own, or accepts everything at once.
    init(on reactor: Reactor, acceptsAll: Bool) { (self.reactor, self.acceptsAll) = (reactor, acceptsAll) }

    func run() async {
        await Wakeup.waitForCancellation(on: reactor)
        events.finish()
    }

    func submit(_ batches: [Batch]) {
        waiting += batches
        handed += batches.flatMap(\.indices)
        guard acceptsAll else { return }
        write(batches.notificationCount)
        settle(batches.notificationCount, .accepted)
    }

    func recorded(_ count: Int) { recordedCount += count }
    func announced(_ batches: [Batch]) { announcedCount += batches.notificationCount }
    func releasePaused() -> Bool { false }

    func remove(_ job: JobID) -> [Batch] {
        defer { waiting.removeAll { $0.job == job } }
        return waiting.filter { $0.job == job }
    }

    func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        guard !written.contains(where: { $0.job == job }) else { return nil }
        return waiting.filter { $0.job == job }.notificationCount == count ? remove(job) : []
    }

    func reconfigure(_: GatewayConfiguration) -> Bool { true }
    func drain() {}
    func setPaused(_: Bool) {}
    func shareRate(among _: Int) {}
    var pendingInDoubt: Int { written.notificationCount }
    var isAtWork: Bool { !waiting.isEmpty || !written.isEmpty }

    // MARK: What a test decides

    /// The indices of the notifications that wait.
    var waitingIndices: [Int] { waiting.flatMap(\.indices) }

    /// Asks the owner to record that the first `count` notifications that wait are about to be written.
    func announce(_ count: Int) {
        var others = waiting
        events.append(.announcing(Self.take(count, from: &others)))
    }

    /// Writes the first `count` notifications that wait to a connection.
    func write(_ count: Int) { written += Self.take(count, from: &waiting) }

    /// Gives the first `count` notifications on the connection this outcome.
    func settle(_ count: Int, _ outcome: Outcome) {
        events.append(.settled(Self.take(count, from: &written).map { Settlement($0, outcome) }))
    }

    private static func take(_ count: Int, from batches: inout [Batch]) -> [Batch] {
        var (rest, taken) = (count, [Batch]())
        while rest > 0, let batch = batches.first {
            let part = batch[batch.indices.prefix(rest)]
            rest -= part.count
            taken.append(part)
            batches.removeFirst()
            if part.count < batch.count { batches.insert(batch[batch.indices.dropFirst(part.count)], at: 0) }
        }
        return taken
    }
}
