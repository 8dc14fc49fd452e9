import JournalModel
import LinuxIO
import PushModel
import SpoolStore
import TestSupport
import Testing

/// A node's lease, its heartbeat, and what another node sees of them.
@Suite struct HeartbeatTests {
    let place: TemporaryDirectory
    private static let terms = {
        var terms = ClusterTerms()
        (terms.leaseLength, terms.patience) = (.milliseconds(400), .seconds(20))
        return terms
    }()

    init() throws {
        place = try TemporaryDirectory()
    }

    private func spool(_ node: String, patience: Duration = .zero) throws -> Spool {
        var terms = Self.terms
        terms.patience = patience
        return try Spool(path: place.path, node: node, journalByteCount: 8 << 20, cluster: terms)
    }

    private func peer(_ node: String, of spool: Spool) throws -> PeerFolder {
        try #require(try PeerFolder.all(in: spool).first { $0.node == node })
    }

    @Test func `a node may act from its start on, and for longer than one lease`() async throws {
        let spool = try spool("a")
        let first = spool.beat
        #expect(spool.mayAct && first != nil)
        try await eventually("a later beat") { (spool.beat?.number ?? 0) > (first?.number ?? 0) + 6 }
        #expect(spool.mayAct)
    }

    @Test func `a daemon that works alone has no lease, and may act`() throws {
        let spool = try Spool(path: place.path, node: "a", journalByteCount: 8 << 20)
        #expect(spool.mayAct && spool.lease == nil && spool.beat == nil)
        #expect(try spool.openState() == nil && spool.openCommonState() == nil)
    }

    @Test func `a lease that is not renewed ends, and one that is lost does not come back`() async throws {
        let lease = NodeLease(length: .milliseconds(50))
        #expect(!lease.isValid)
        let start = Moment(nanoseconds: BootClock.nanoseconds())
        lease.renew(from: start)
        #expect(lease.isValid)
        try await eventually("its end") { !lease.isValid }
        // A call that took longer than the lease renews nothing.
        lease.renew(from: start)
        #expect(!lease.isValid)
        lease.renew(from: Moment(nanoseconds: BootClock.nanoseconds()))
        #expect(lease.isValid)
        lease.lose()
        lease.renew(from: Moment(nanoseconds: BootClock.nanoseconds()))
        #expect(!lease.isValid)
    }

    @Test func `a mark of another node in the journal ends the lease and the journal`() async throws {
        let spool = try spool("a")
        let other = try spool.privateDirectory.openForWriting(Array("journal".utf8), mode: 0o600)
        let last = try #require(spool.beat)
        // Between two beats of ours.
        let alien = JournalBeat(number: last.number + 1_000, at: WallTime(epochSeconds: 1), lease: last.lease)
        try other.write(alien.bytes, at: JournalBeat.offset)
        try await eventually("the loss") { spool.journal.fault != nil }
        #expect(!spool.mayAct && spool.journal.fault?.isStale == true)
        #expect(throws: JournalFault.self) { try spool.confirm() }
        #expect(throws: JournalFault.self) { try spool.append(.stopped) }
    }

    @Test func `a claim without a lease leaves the file where it is`() async throws {
        let spool = try spool("a")
        let app = try spool.app("weather")
        try app.new.put(Array("a.json".utf8), Array("{}".utf8))
        guard case .opened(let job) = try app.open(try fileName("a.json")) else { throw NotThere() }
        spool.lease?.lose()
        #expect(try spool.claim(job, as: JobID(bits: 1), in: app) == .lapsed)
        #expect(try app.new.names().count == 1 && app.work.names().isEmpty)
    }

    private struct NotThere: Error {}

    @Test func `nodes see each other, and one that has stopped is free at once`() async throws {
        let one = try spool("a")
        do {
            let two = try spool("b")
            #expect(try peer("b", of: one).state() == .locked && peer("a", of: two).state() == .locked)
            #expect(try peer("b", of: one).lock() == nil)
            try two.leave(.stopped)
            #expect(!two.mayAct)
        }
        try await eventually("its end") { try peer("b", of: one).state() != .locked }
        let state = try peer("b", of: one).state()
        guard case .free(let beat) = state else { throw NotThere() }
        #expect(beat?.end == .stopped)
    }

    /// Opens a node's journal and drops it without a word. Its heartbeat has the file for another moment.
    private func die(_ node: String, seenBy spool: Spool, after body: (Spool) throws -> Void = { _ in }) async throws {
        do { try body(try self.spool(node)) }
        try await eventually("the end of \(node)") { try peer(node, of: spool).state() != .locked }
    }

    @Test func `a node that died without a word is free, and not known to have stopped`() async throws {
        let one = try spool("a")
        try await die("b", seenBy: one)
        guard case .free(let beat) = try peer("b", of: one).state() else { throw NotThere() }
        #expect(beat != nil && beat?.end == nil)
    }

    @Test func `another node opens the journal in a dead one's place, and counts its marks on`() async throws {
        let own = try spool("a")
        let id = JobID(bits: 7)
        try await die("b", seenBy: own) { dead in
            try dead.append(.header(try header(id)))
            try dead.write()
        }
        guard case .free(let before) = try peer("b", of: own).state() else { throw NotThere() }
        let lock = try #require(try peer("b", of: own).lock())
        #expect(try lock.beat() == before)
        let spool = try Spool(inPlaceOf: lock, beside: own, Self.terms)
        #expect(spool.node == "b" && spool.mayAct && spool.replay.jobs.keys.contains(id))
        #expect((spool.beat?.number ?? 0) == (before?.number ?? 0) + 1)
        #expect(throws: SpoolFault.self) { _ = try self.spool("b") }
    }

    @Test func `a starting node asks for its journal, and gets it when it is released`() async throws {
        let own = try spool("a")
        try await die("b", seenBy: own)
        let lock = try #require(try peer("b", of: own).lock())
        var standIn: Spool? = try Spool(inPlaceOf: lock, beside: own, Self.terms)
        #expect(try peer("b", of: own).returnRequest() == nil)
        async let started = Self.start(place.path)
        try await eventually("its request") { try peer("b", of: own).returnRequest() != nil }
        try standIn?.leave(.stopped)
        standIn = nil
        #expect(try await started.mayAct)
        #expect(try peer("b", of: own).returnRequest() == nil)
    }

    @concurrent private static func start(_ path: String) async throws -> Spool {
        var terms = terms
        // The lock is released once the request was seen, however long that takes on a busy machine.
        terms.patience = .seconds(600)
        return try Spool(path: path, node: "b", journalByteCount: 8 << 20, cluster: terms)
    }

    @Test func `a node whose name another daemon keeps does not start`() throws {
        let kept = try spool("a")
        let fault = #expect(throws: SpoolFault.self) { _ = try spool("a", patience: .milliseconds(300)) }
        #expect(fault?.cause?.isLocked == true && kept.mayAct)
    }

    @Test func `what the filesystem does is found by trying`() throws {
        let probe = try ClusterProbe(in: place.directory)
        #expect(probe.fault == nil && probe.showsLocks && probe.warnings == [])
        #expect(try place.directory.names().isEmpty)
    }

    @Test func `a request is taken once, and its answer too`() throws {
        let spool = try spool("a")
        let box = try #require(spool.requests)
        let name = try box.ask(Array("hold".utf8))
        #expect(try box.takeAnswer(to: name) == nil)
        let taken = try box.takeRequests()
        #expect(taken.map(\.name) == [name] && taken.map(\.request) == [Array("hold".utf8)])
        #expect(try box.takeRequests().isEmpty)
        try box.answer(name, Array("done".utf8))
        #expect(try box.takeAnswer(to: name) == Array("done".utf8) && box.takeAnswer(to: name) == nil)
        let other = try box.ask([1])
        try box.withdraw(other)
        #expect(try box.takeRequests().isEmpty)
    }
}
