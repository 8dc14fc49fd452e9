import APNSModel
import GatewaySimulator
import Gateways
import PushModel
import Testing

/// Broadcasts, which have a host and connections of their own.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2BroadcastTests {
    private static let channels = (0..<50).map { "Y2hhbm5lbC0\($0 / 10)\($0 % 10)AA=" }

    private static func batch(_ index: Int, job: JobID = Sample.job) throws -> Batch {
        let channel = try #require(ChannelID(channels[index % channels.count]))
        var attributes = Attributes(pushType: .liveactivity)
        attributes.addressKind = .channel
        var tokens = PackedBytes()
        tokens.append(Array(channel.text.utf8))
        let payload = Payload(
            bytes: Array(#"{"aps":{"event":"update","timestamp":\#(index),"content-state":{}}}"#.utf8))
        return Batch(
            header: .init(job: job, attributes: attributes), firstIndex: index, addresses: tokens,
            payloads: .shared(payload))
    }

    @Test func `a broadcast has the fields of Apple's page, and a connection of its own`() async throws {
        try await HTTP2Plan().run { bench in
            try await bench.submit(10)
            try await bench.gateway.submit((10..<60).map { try Self.batch($0) })
            try await bench.collect { $0.outcomes.count == 60 }
            #expect(bench.record.acceptedCount == 60)
            let ledger = await bench.simulator.ledger
            #expect(ledger.violations.isEmpty && ledger.connectionCount == 2)
            let request = try #require(
                ledger.accepted.compactMap(\.request).first { $0[":path"]?.hasPrefix("/4/") == true })
            #expect(request[":path"] == "/4/broadcasts/apps/com.example.weather" && request["apns-expiration"] == "0")
            #expect(request.topic == nil && request.pushType == "liveactivity")
        }
    }

    @Test func `refusals of one channel leave the others and the devices alone`() async throws {
        var plan = HTTP2Plan()
        plan.rules.channels = Dictionary(uniqueKeysWithValues: Self.channels.dropFirst(5).map { ($0, .latest) })
        try await plan.run { bench in
            try await bench.gateway.submit((0..<100).map { try Self.batch($0) })
            try await bench.collect { $0.outcomes.count == 100 }
            #expect(bench.record.indices("rejected") == (0..<5).map { $0 } + (50..<55).map { $0 })
            #expect(bench.record.outcomes[0]?.refusal?.reason == "ChannelNotRegistered")
            #expect(bench.record.outcomes[0]?.refusal?.verdict == .invalid)
            #expect(bench.record.acceptedCount == 90)
        }
    }

    @Test(arguments: ["every=9 goaway undone=1", "every=7 answer reason=ServiceUnavailable", "every=11 refuse-stream"])
    func `trouble at the gateway loses no broadcast and doubles none`(script: String) async throws {
        try await HTTP2Plan(script).run { bench in
            try await bench.gateway.submit((0..<500).map { try Self.batch($0) })
            try await bench.collect { $0.outcomes.count == 500 }
            #expect(bench.record.acceptedCount == 500)
            #expect(await bench.simulator.ledger.acceptedCount == 500 + bench.record.doubtfulCount)
        }
    }

    @Test func `an app that may not broadcast keeps sending to devices`() async throws {
        try await HTTP2Plan("every=1 answer reason=FeatureNotEnabled").run { bench in
            try await bench.gateway.submit((0..<5).map { try Self.batch($0) })
            try await bench.collect { $0.outcomes.count == 5 }
            #expect(bench.record.indices("rejected").count == 5)
            #expect(bench.record.outcomes[0]?.refusal?.verdict == .config)
            #expect(bench.record.stops.isEmpty)
        }
    }

    @Test func `a job that waits is taken back from either route`() async throws {
        try await HTTP2Plan().run { bench in
            await bench.gateway.setPaused(true)
            let (devices, broadcasts) = (JobID(bits: 8), JobID(bits: 9))
            try await bench.gateway.submit(Sample.batch(0..<3, job: devices))
            try await bench.gateway.submit(try Self.batch(0, job: broadcasts))
            #expect(await bench.gateway.remove(broadcasts).notificationCount == 1)
            #expect(await bench.gateway.removeUnwritten(devices, count: 3)?.notificationCount == 3)
            #expect(await !bench.gateway.isAtWork)
        }
    }
}
