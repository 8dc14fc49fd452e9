import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@testable import PushDaemon

/// How a node finds the others, and takes the places of those that have died.
@Suite struct PeerScoutTests {
    let place: TemporaryDirectory
    private static let terms = {
        var terms = ClusterTerms()
        (terms.leaseLength, terms.patience) = (.milliseconds(500), .zero)
        return terms
    }()

    init() throws {
        place = try TemporaryDirectory()
    }

    private func spool(_ node: String, lease: Duration = terms.leaseLength) throws -> Spool {
        var terms = Self.terms
        terms.leaseLength = lease
        return try Spool(path: place.path, node: node, journalByteCount: 8 << 20, cluster: terms)
    }

    private func scout(_ spool: Spool) throws -> PeerScout {
        try PeerScout(spool, Self.terms, untrusted: nil, Self.logger)
    }

    private static let logger = Logger(label: "scout") { _ in SwiftLogNoOpLogHandler() }

    /// A daemon that works alone, and its scout.
    private func alone(_ node: String, untrusted: String? = nil) throws -> (spool: Spool, scout: PeerScout) {
        let spool = try Spool(path: place.path, node: node, journalByteCount: 8 << 20)
        let scout = try PeerScout(spool, nil, untrusted: untrusted, Self.logger)
        return (spool, scout)
    }

    /// Leaves jobs in `work/` of a node.
    private func leave(_ count: Int, of node: String) throws {
        let work = try ["weather", "work", node].reduce(place.directory) { (folder, name) throws(SystemError) in
            try folder.makeChild(Array(name.utf8), mode: 0o700)
        }
        for number in 0..<count {
            let id = JobID(bits: UInt128(number + 1))
            try work.create(Array("\(id)-j\(number).json".utf8), mode: 0o600).closeNow()
        }
    }

    @Test func `an answer that nobody takes is removed after a minute`() async throws {
        let (one, two) = (try spool("one"), try scout(try spool("two")))
        let box = try #require(try PeerFolder("two", of: one)).requests()
        let name = try box.ask(Array("status".utf8))
        let begin = Moment.now
        for request in await two.takeRequests(from: [box], at: begin) { await two.answer(request, Array("{}".utf8)) }
        for seconds in [15, 30, 45, 60] {
            #expect(await two.takeRequests(from: [box], at: begin + .seconds(seconds)).isEmpty)
            #expect(try box.answered() == [name], "after \(seconds) s")
        }
        #expect(await two.takeRequests(from: [box], at: begin + .seconds(75)).isEmpty)
        #expect(try box.answered().isEmpty)
    }

    @Test func `a daemon that works alone takes the place of another node at once`() async throws {
        do { _ = try alone("old") }
        try leave(2, of: "old")
        let (own, scout) = try alone("new")
        let findings = await scout.look(besides: [], true)
        #expect(findings.dead.map(\.node) == ["old"] && findings.dead.allSatisfy { !$0.isShared })
        #expect(own.node == "new")
        let later = await scout.look(besides: ["old"], true)
        #expect(later.left.allSatisfy { $0.reason == nil && $0.jobCount == 2 })
    }

    @Test func `of many nodes, a daemon that works alone takes the places of a few at a time`() async throws {
        for number in 0..<10 { _ = try alone("old\(number)") }
        let (_, scout) = try alone("new")
        let findings = await scout.look(besides: [], true)
        #expect(findings.dead.count == 8 && findings.hasOrphans)
    }

    @Test func `where locks prove nothing, a daemon that works alone takes nothing over, and says so`() async throws {
        do { _ = try alone("old") }
        try leave(3, of: "old")
        let (_, scout) = try alone("new", untrusted: "fuse")
        let findings = await scout.look(besides: [], true)
        #expect(findings.dead.isEmpty && !findings.hasOrphans)
        #expect(findings.left == [.init(node: "old", jobCount: 3, .untrustedLocks("fuse"))])
        #expect(findings.left[0].hint?.contains("node:") == false)
    }

    @Test func `the jobs of a node whose journal is missing are found`() async throws {
        try leave(2, of: "lost")
        let node = try spool("a")
        for scout in [try scout(node)] {
            let findings = await scout.look(besides: [], true)
            #expect(findings.left == [.init(node: "lost", jobCount: 2, .noJournal)])
        }
    }

    @Test func `the jobs of a node whose journal cannot be read wait, with a remedy for another node`() async throws {
        // Alone, because the thread that renews a lease keeps the lock until it has ended.
        do { _ = try alone("lost") }
        try leave(2, of: "lost")
        let journal = try Directory.open(path: place.path + "/.pushspool/lost")
            .openForWriting(Array("journal".utf8), mode: 0o600)
        try journal.write([UInt8](repeating: 0x5a, count: 8192), at: 0)
        let (_, scout) = try alone("a")
        var left: [SpoolStatus.LeftNode] = []
        try await eventually("the reason") {
            left = await scout.look(besides: [], true).left
            return !left.isEmpty
        }
        let reason = try #require(left.first?.reason)
        #expect(left.map(\.jobCount) == [2] && reason.contains("has a damaged first page"), "\(left)")
        // That is what the node's own daemon does.
        #expect(!reason.contains("resends"), "\(reason)")
        #expect(left[0].hint?.contains("move the files from work/lost/ to new/") == true, "\(left)")
    }

    @Test func `a request that waits when a node's place is taken is asked again`() async throws {
        let own = try spool("a")
        do { _ = try spool("b") }
        let scout = try scout(own)
        async let answer = scout.ask("b", Array("hold".utf8), within: .seconds(20))
        let requests = try Directory.open(path: place.path + "/.pushspool/b/requests")
        try await eventually("the request") { try !requests.names().isEmpty }
        let standIn = try await takeOver(scout)
        let box = try #require(standIn.requests)
        try await eventually("the request, again") {
            for request in await scout.takeRequests(from: [box]) {
                await scout.answer(request, request.line)
                return true
            }
            return false
        }
        #expect(await answer == Array("hold".utf8))
        #expect(try requests.names().isEmpty)
    }

    /// Looks until the scout has taken a dead node's place, and returns what it opened.
    private func takeOver(_ scout: PeerScout, besides: Set<String> = []) async throws -> Spool {
        var found: Spool?
        try await eventually("a dead node") {
            found = await scout.look(besides: besides, true).dead.first
            return found != nil
        }
        return try #require(found)
    }

    /// Waits until a scout sees that nobody has a node's journal: the thread of the heartbeat may end after the spool.
    private func awaitRelease(of node: String, seenBy scout: PeerScout) async throws {
        try await eventually("its release") { await !scout.look(besides: [], false).live.contains(node) }
    }

    @Test func `a node that runs is seen and left alone`() async throws {
        let (own, other) = (try spool("a"), try spool("b"))
        let scout = try scout(own)
        for _ in 0..<5 {
            let findings = await scout.look(besides: [], true)
            #expect(findings.live == ["b"] && findings.dead.isEmpty && !findings.hasOrphans)
        }
        #expect(other.mayAct)
    }

    @Test func `a node that died is taken over after a lease, and left alone when its jobs are finished`() async throws
    {
        let own = try spool("a")
        let scout = try scout(own)
        do { _ = try spool("b") }
        let start = ContinuousClock.now
        var standIn: Spool? = try await takeOver(scout)
        #expect(standIn?.node == "b" && start.duration(to: .now) >= Self.terms.leaseLength)
        #expect(await scout.look(besides: ["b"], true).dead.isEmpty)
        try standIn?.leave(.finishedAll)
        standIn = nil
        try await awaitRelease(of: "b", seenBy: scout)
        for _ in 0..<5 { #expect(await scout.look(besides: [], true).dead.isEmpty) }
        // Another life, and death, is news.
        do { _ = try spool("b") }
        standIn = try await takeOver(scout)
        #expect(standIn?.node == "b")
    }

    @Test func `a survivor with a shorter lease waits for that of the node that died`() async throws {
        let scout = try scout(try spool("a"))
        let lease = Self.terms.leaseLength * 3
        do { _ = try spool("b", lease: lease) }
        let start = ContinuousClock.now
        #expect(try await takeOver(scout).node == "b")
        #expect(start.duration(to: .now) >= lease)
    }

    @Test func `a journal that another node has finished is left alone`() async throws {
        let own = try spool("a")
        for (end, isOrphan) in [(JournalBeat.End.finishedAll, false), (.triedAll, true)] {
            do { try spool("b").leave(end) }
            let scout = try scout(own)
            try await awaitRelease(of: "b", seenBy: scout)
            for _ in 0..<5 {
                let findings = await scout.look(besides: [], true)
                #expect(findings.live.isEmpty && findings.dead.isEmpty && findings.hasOrphans == isOrphan)
            }
        }
        do { try spool("b").leave(.stopped) }
        let standIn = try await takeOver(try scout(own))
        #expect(standIn.node == "b")
    }

    @Test func `while this daemon's apps start, nobody's place is taken`() async throws {
        let own = try spool("a")
        do { try spool("b").leave(.stopped) }
        let scout = try scout(own)
        try await awaitRelease(of: "b", seenBy: scout)
        for _ in 0..<5 {
            let findings = await scout.look(besides: [], false)
            #expect(findings.dead.isEmpty && findings.hasOrphans)
        }
        #expect(try await takeOver(scout).node == "b")
    }

    @Test func `of two that survive, one takes over`() async throws {
        let scouts = [try scout(try spool("a")), try scout(try spool("c"))]
        do { _ = try spool("b") }
        var taken: [[Spool]] = [[], []]
        func look() async {
            for (index, scout) in scouts.enumerated() {
                taken[index] += await scout.look(besides: Set(taken[index].map(\.node)), true).dead
            }
        }
        try await eventually("a survivor that takes over") {
            await look()
            return taken.contains { !$0.isEmpty }
        }
        for _ in 0..<20 {
            await look()
            try await moment(.milliseconds(50))
        }
        #expect(taken.flatMap { $0.map(\.node) } == ["b"])
    }

    @Test func `a journal of another version is left alone, and the other nodes are not`() async throws {
        let own = try spool("a")
        do { _ = try spool("b") }
        do { _ = try spool("c") }
        let home = try place.directory.openChild(Array(".pushspool".utf8)).openChild(Array("b".utf8))
        let journal = try home.openForWriting(Array("journal".utf8), mode: 0o600)
        var page: [UInt8] = []
        _ = try journal.read(512, at: 0, appendingTo: &page)
        // The version follows the magic, and the checksum is at 508.
        page[18] += 1
        page.replaceInteger(CRC32C.checksum(page.span.extracting(0..<508)), at: 508)
        try journal.write(page, at: 0)
        let scout = try scout(own)
        let standIn = try await takeOver(scout)
        #expect(standIn.node == "c")
        for _ in 0..<10 {
            #expect(await scout.look(besides: ["c"], true).dead.isEmpty)
            try await moment(.milliseconds(100))
        }
        var after: [UInt8] = []
        _ = try journal.read(512, at: 0, appendingTo: &after)
        #expect(after == page)
    }

    @Test func `folders that are no node's are passed`() async throws {
        let own = try spool("a")
        let folder = try place.directory.openChild(Array(".pushspool".utf8))
        for name in ["empty", ".common", "public"] { _ = try folder.makeChild(Array(name.utf8), mode: 0o700) }
        try folder.create(Array("file".utf8), mode: 0o600).closeNow()
        let half = try folder.makeChild(Array("half".utf8), mode: 0o700)
        try half.create(Array("journal".utf8), mode: 0o600).closeNow()
        let findings = await (try scout(own)).look(besides: [], true)
        #expect(findings.live.isEmpty && findings.dead.isEmpty && !findings.hasOrphans)
    }

    @Test func `a request for the journal counts if it came after the lock`() async throws {
        let own = try spool("a")
        do { _ = try spool("b") }
        let home = try place.directory.openChild(Array(".pushspool".utf8)).openChild(Array("b".utf8))
        try home.create(Array("return".utf8), mode: 0o600).write(Array("1".utf8))
        let scout = try scout(own)
        let standIn = try await takeOver(scout)
        #expect(await !scout.isAskedFor("b"))
        try home.unlink(Array("return".utf8))
        #expect(await !scout.isAskedFor("b"))
        try home.create(Array("return".utf8), mode: 0o600).write(Array("2".utf8))
        #expect(await scout.isAskedFor("b"))
        #expect(standIn.mayAct)
    }

    @Test func `a node answers what another one asks`() async throws {
        let (own, other) = (try spool("a"), try spool("b"))
        let (one, two) = (try scout(own), try scout(other))
        async let answer = one.ask("b", Array("hold".utf8), within: patience)
        let box = try #require(other.requests)
        try await eventually("the request") {
            for request in await two.takeRequests(from: [box]) {
                #expect(request.line == Array("hold".utf8))
                await two.answer(request, Array("done".utf8))
                return true
            }
            return false
        }
        #expect(await answer == Array("done".utf8))
        #expect(await one.ask("nobody", [1], within: .milliseconds(10)) == nil)
        #expect(await one.ask("b", [1], within: .milliseconds(10)) == nil)
        #expect(await two.takeRequests(from: [box]).isEmpty)
    }
}
