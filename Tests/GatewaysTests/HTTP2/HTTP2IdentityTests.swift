import APNSHTTP2
import APNSModel
import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import PushHTTP2
import PushModel
import ServiceProcess
import Synchronization
import TestSupport
import Testing

/// Provider tokens and certificates, as a gateway sees them that verifies both.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2IdentityTests {
    /// Sends through as many gateways as there are counts, and returns what was signed.
    private func send(_ counts: [Int], _ keys: HTTP2KeyPlan, folder: TemporaryDirectory, connections: Int = 1)
        async throws
        -> (signings: Int, ledger: Ledger)
    {
        let result = Mutex<(Int, Ledger)?>(nil)
        try await keys.plan.running { simulator, reactor in
            let worker = try WorkerThread(name: "tokens")
            defer { worker.stop() }
            let state = try Directory.open(path: folder.path)
            let sources = TokenSources(
                folder: try TokenSources.openFolder(in: state), worker: worker, reactor: reactor, logger: Sample.logger)
            for (number, count) in counts.enumerated() {
                var configuration = try HTTP2KeyPlan.configuration(of: simulator, sources.source(of: keys.key))
                configuration.connectionLimit = connections
                let gateway = GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
                try await Sample.running(gateway) { gateway in
                    let bench = HTTP2Bench(simulator, gateway, configuration)
                    bench.skip(to: number * 10_000)
                    try await bench.submit(count)
                    try await bench.collect { $0.outcomes.count == count }
                }
            }
            let ledger = await simulator.ledger
            result.withLock { $0 = (sources.source(of: keys.key).signingCount, ledger) }
        }
        let (signings, ledger) = try #require(result.withLock { $0 })
        return (signings, ledger)
    }

    @Test func `one token is signed for three connections and two apps, and none after a restart`() async throws {
        let folder = try TemporaryDirectory()
        let keys = try HTTP2KeyPlan("latency delay=20ms")
        let first = try await send([3_000, 3_000], keys, folder: folder, connections: 3)
        #expect(first.signings == 1)
        #expect(first.ledger.acceptedCount == 6_000 && first.ledger.violations.isEmpty)
        #expect(first.ledger.refusedCount == 0)
        let second = try await send([100], keys, folder: folder)
        #expect(second.signings == 0 && second.ledger.acceptedCount == 100)
    }

    @Test func `a new connection proves its token while the one before it waits for answers`() async throws {
        let keys = try HTTP2KeyPlan(
            """
            nth=42 goaway undone=1 then=stay
            connection=1 after=1 every=1 withhold
            """)
        try await keys.run { bench, _ in
            try await bench.submit(60)
            try await bench.collect { $0.outcomes.count >= 20 }
            #expect(bench.record.acceptedCount == bench.record.outcomes.count)
        }
    }

    @Test(arguments: [nil, "com.example.weather"])
    func `a topic that a connection does not know yet is tried once on a new one`(own: String?) async throws {
        let keys = try HTTP2KeyPlan("connection=1 every=10 answer reason=TopicDisallowed")
        try await keys.run { bench, _ in
            try await bench.gateway.submit(Sample.batch(0..<500, attributes: Attributes(topic: own)))
            try await bench.collect { $0.outcomes.count == 500 }
            #expect(bench.record.acceptedCount == 500 && bench.record.stops.isEmpty)
            #expect(await bench.simulator.ledger.connectionCount == 2)
        }
    }

    @Test func `a topic that a new connection refuses, too, stops the app`() async throws {
        let keys = try HTTP2KeyPlan("answer reason=TopicDisallowed")
        try await keys.run { bench, _ in
            try await bench.submit(20)
            try await bench.collect { !$0.stops.isEmpty }
            let ledger = await bench.simulator.ledger
            #expect(ledger.connectionCount >= 2 && ledger.refusedCount < 20)
        }
    }

    @Test func `a job's own topic that a new connection refuses, too, costs no third one`() async throws {
        let keys = try HTTP2KeyPlan("answer reason=TopicDisallowed")
        try await keys.run { bench, _ in
            var header = Batch.Header(job: Sample.job, attributes: Attributes(topic: "com.example.other"))
            header.hasOwnTopic = true
            var tokens = PackedBytes()
            for number in 0..<100 { tokens.append(Sample.token(number)) }
            let payload = Payload(bytes: Array("{}".utf8))
            try await bench.gateway.submit(
                Batch(header: header, firstIndex: 0, addresses: tokens, payloads: .shared(payload)))
            try await bench.collect { $0.outcomes.count == 100 }
            #expect(bench.record.indices("rejected").count == 100 && bench.record.stops.isEmpty)
            #expect(await bench.simulator.ledger.connectionCount == 2)
        }
    }

    @Test func `the first request goes alone until the gateway has taken the token`() async throws {
        let keys = try HTTP2KeyPlan("latency delay=50ms")
        let sent = try await send([500], keys, folder: try TemporaryDirectory())
        #expect(sent.ledger.acceptedCount == 500 && sent.ledger.violations.isEmpty)
    }

    @Test(arguments: PushType.allCases)
    func `each push type is taken with its own topic, and never at a priority it does not have`(type: PushType)
        async throws
    {
        let keys = try HTTP2KeyPlan()
        try await keys.run { bench, _ in
            let attributes = Attributes(pushType: type, priority: type.defaultPriority)
            try await bench.gateway.submit(Sample.batch(0..<3, attributes: attributes))
            try await bench.collect { $0.outcomes.count == 3 }
            let ledger = await bench.simulator.ledger
            #expect(ledger.acceptedCount == 3 && ledger.violations.isEmpty)
            #expect(ledger.accepted.first?.request?.pushType == type.rawValue)
            let topic = PushTopic.topic(for: type, app: "com.example.weather")
            #expect(ledger.accepted.first?.request?.topic == topic)
        }
    }

    @Test func `an expired token is replaced once, on another connection`() async throws {
        let keys = try HTTP2KeyPlan("nth=5 answer reason=ExpiredProviderToken")
        let sent = try await send([100], keys, folder: try TemporaryDirectory())
        #expect(sent.ledger.acceptedCount == 100 && sent.signings == 2)
        #expect(sent.ledger.connectionCount == 2 && sent.ledger.duplicates.isEmpty)
    }

    @Test func `a token that expires again at once stops the app, for the clock must be wrong`() async throws {
        try await HTTP2KeyPlan("answer reason=ExpiredProviderToken").run { bench, source in
            try await bench.submit(10)
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.stops.first?.hint?.contains("clock") == true)
            #expect(source.signingCount == 2 && bench.record.outcomes.isEmpty)
        }
    }

    @Test func `a job for which a new token is called expired stops nobody else`() async throws {
        try await HTTP2KeyPlan("token=00000002 answer reason=ExpiredProviderToken").run { bench, source in
            // As another app of the key has done.
            _ = try await source.renew(after: source.current(at: .now), at: .now)
            for (job, range) in [0..<2, 2..<3, 3..<13].enumerated() {
                try await bench.gateway.submit(Sample.batch(range, job: JobID(bits: UInt128(job))))
            }
            try await bench.collect { $0.acceptedCount == 12 }
            #expect(bench.record.stops.isEmpty && source.signingCount == 2)
        }
    }

    @Test func `a token that another app of the key has replaced is used on a new connection`() async throws {
        try await HTTP2KeyPlan().run { bench, source in
            try await bench.submit(5)
            try await bench.settle()
            _ = try await source.renew(after: source.current(at: .now), at: .now)
            try await bench.submit(5)
            try await bench.settle()
            let ledger = await bench.simulator.ledger
            #expect(bench.record.acceptedCount == 10 && ledger.refusedCount == 0 && ledger.connectionCount == 2)
            #expect(bench.record.reports.allSatisfy { $0.pause == .zero } && source.signingCount == 2)
        }
    }

    @Test func `jobs that always meet too many provider tokens rest nobody else`() async throws {
        let script = (0..<4).map { "token=0000000\($0) answer reason=TooManyProviderTokenUpdates" }
        let plan = HTTP2Plan(script.joined(separator: "; ")) {
            $0.connectBackOff = BackOff(first: .seconds(3600), ceiling: .seconds(3600))
            $0.pauses.later = BackOff(first: .seconds(3600), ceiling: .seconds(3600))
        }
        try await plan.run { bench in
            for number in 0..<4 {
                let bad = Sample.batch(number..<number + 1, job: JobID(bits: UInt128(number)))
                try await bench.gateway.submit(bad)
            }
            try await bench.gateway.submit(Sample.batch(4..<14, job: JobID(bits: 9)))
            try await bench.collect { $0.acceptedCount == 10 }
            #expect(bench.record.stops.isEmpty)
        }
    }

    @Test(arguments: Reason.allCases.filter { $0.status == 403 && $0.failureClass == .app } + [.unrelatedKeyIDInToken])
    func `what is wrong with token or key stops the app, and no other token is signed`(reason: Reason) async throws {
        try await HTTP2KeyPlan("answer reason=\(reason.rawValue)").run { bench, source in
            try await bench.submit(10)
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.stops.map(\.hint) == [reason.hint] && reason.hint != nil)
            while await bench.gateway.pendingInDoubt > 0 { await Task.yield() }
            #expect(await bench.gateway.remove(Sample.job).reduce(0) { $0 + $1.count } == 10)
            let ledger = await bench.simulator.ledger
            #expect(source.signingCount == 1 && bench.record.outcomes.isEmpty && ledger.acceptedCount == 0)
            // Another connection might have accepted these.
            let isTriedAgain = [.unrelatedKeyIDInToken, .topicMismatch].contains(reason)
            #expect(ledger.refusedCount == (isTriedAgain ? 2 : 1))
        }
    }

    @Test(arguments: [Reason.tooManyProviderTokenUpdates, .unrelatedKeyIDInToken])
    func `what is about a token's connection is tried again on another, with the same token`(reason: Reason)
        async throws
    {
        try await HTTP2KeyPlan("nth=5 answer reason=\(reason.rawValue)").run { bench, source in
            try await bench.submit(20)
            try await bench.settle()
            let ledger = await bench.simulator.ledger
            #expect(bench.record.acceptedCount == 20 && bench.record.stops.isEmpty)
            #expect(ledger.connectionCount == 2 && ledger.duplicates.isEmpty && source.signingCount == 1)
        }
    }

    @Test func `a token that a certificate's app is told of stops it: there is none to renew`() async throws {
        try await HTTP2Plan("answer reason=ExpiredProviderToken") { $0.stopPause = .seconds(3600) }.run { bench in
            try await bench.submit(3)
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.outcomes.isEmpty)
        }
    }
}
