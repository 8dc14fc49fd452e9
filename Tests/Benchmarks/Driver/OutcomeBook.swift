import Gateways
import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore

/// Records what a gateway tells in a journal, as the daemon does, and tells it what is durable.
actor OutcomeBook {
    /// How outcomes are made durable.
    enum Mode: String {
        /// Many with one sync, as the daemon does.
        case journal
        /// Every group that the gateway tells by a sync of its own.
        case each
    }

    /// How and where a run's outcomes are recorded.
    struct Plan {
        let mode: Mode
        /// An empty folder.
        let folder: String
    }

    /// How many notifications may be answered and not durable besides a full window: `journal.sync_records`.
    static let group = 256
    /// How long an outcome stays unsynced at most: `journal.sync_interval`.
    private static let interval = Duration.milliseconds(5)

    private let mode: Mode
    private let journal: Journal
    private let gateway: any PushGateway
    private let reactor: Reactor
    private let (counts, teller) = AsyncStream<Int>.makeStream()

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Makes a journal, and announces a job of that many notifications in it.
    init(_ plan: Plan, for gateway: any PushGateway, count: Int, on reactor: Reactor) throws {
        mode = plan.mode
        self.gateway = gateway
        self.reactor = reactor
        journal = try JournalLock.openJournal(
            of: "bench", in: try Directory.open(path: plan.folder), layout: JournalLayout(byteCount: 64 << 20)
        ).journal
        guard let name = FileName(bytes: Array("job".utf8)) else { throw Fault(description: "no file name") }
        var facts = JournalHeader.Facts(id: GatewayRun.job, app: "bench", name: name)
        facts.recipientCount = count
        try journal.append(.header(JournalHeader(facts, content: .bytes([]))))
        try journal.flush()
    }

    /// Syncs and tells the gateway, until the task is cancelled.
    func run() async throws {
        guard mode == .journal else { return }
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.runSyncs() }
            group.addTask { try await self.tellRecorded() }
            try await group.waitForAll()
        }
    }

    /// Belongs to the actor, so that it ends on the reactor, and not on the journal's thread, which it waits for.
    private func runSyncs() async throws { try await journal.run(every: Self.interval, results: Self.group) }

    /// Records outcomes.
    func record(_ settlements: [Settlement]) async throws {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        for settlement in settlements {
            let result = JournalResult(settlement.outcome, [settlement.batch.indices], at: now)
            try journal.append(.result(GatewayRun.job, result))
        }
        let count = settlements.reduce(0) { $0 + $1.batch.count }
        switch mode {
        case .journal:
            try journal.write()
            teller.yield(count)
        case .each:
            try journal.flush()
            await gateway.recorded(count)
        }
    }

    private func tellRecorded() async throws {
        for await count in counts {
            try await journal.sync(isPatient: true)
            await gateway.recorded(count)
        }
    }
}
