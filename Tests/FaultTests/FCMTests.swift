import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Deaths and faults between an app over FCM and Google.
@Suite(.serialized) struct FCMTests {
    /// What Google does: a few connections end, with a word or without, and some requests are refused for a while.
    private static let faults = """
        port=fcm every=701 goaway undone=5
        port=fcm every=1301 reset
        port=fcm probability=0.005 seed=3 answer reason=UNAVAILABLE
        port=fcm probability=0.005 seed=4 answer reason=INTERNAL
        port=fcm probability=0.002 seed=5 refuse-stream
        port=fcm every=4001 times=3 answer quota=project retry-after=1
        port=oauth every=5 answer status=503
        """

    private static let kills = trials(5, full: 50)

    @Test func `kill -9 while Google fails and access tokens end loses nobody and doubles few`() async throws {
        let setup = Bench.Setup(
            script: Self.faults, wire: "fcm", latency: .milliseconds(5), accessTokenLifetime: .seconds(2),
            apps: ["storm", "weather"], app: GatewayTests.quickRetry)
        try await Bench.running(setup) { bench in
            let hits = try await bench.kill(Self.kills)
            let verdict = try await bench.judge("A3 kill9-random fcm, \(Self.kills) kills, \(hits) in work")
            #expect(verdict.isGood, "\(verdict)")
            #expect(hits > 0 && verdict.jobCount > Self.kills, "the kills came too early")
            let ledger = await bench.simulator.ledger
            #expect(ledger.violations.isEmpty && ledger.tokenRequests.count > 1)
        }
    }

    @Test func `a large job passes through all of Google's faults`() async throws {
        let setup = Bench.Setup(
            script: Self.faults, wire: "fcm", latency: .milliseconds(5), accessTokenLifetime: .seconds(2),
            app: GatewayTests.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                var drop = Drop(number: 1, count: trials(2_000, full: 100_000))
                drop.isInLines = true
                try bench.drop(drop)
                // A hundred thousand take longer than one wait: the quota slows them down.
                try await eventually("all done", within: patience * trials(1, full: 10)) { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("H63 refuse-storm fcm", allowance: setup.window)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `jobs for Apple's devices go on while Google is dead`() async throws {
        let setup = Bench.Setup(
            script: "port=fcm refuse-connection\nport=oauth refuse-connection", fcmApps: ["google"],
            apps: ["apple", "google"], app: GatewayTests.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                for number in 1...20 { try bench.drop(Drop(number: number, count: 20)) }
                try await eventually("Apple's are done") { bench.archived("apple").count == 10 }
                #expect(bench.archived("google").isEmpty)
                await bench.simulator.setScript(.none)
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("I60 google-dead", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}
