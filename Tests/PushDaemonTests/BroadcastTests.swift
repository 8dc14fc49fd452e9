import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Broadcasts, from the job file to the feedback line.
@Suite struct BroadcastTests {
    private static let ids = ["bWF0Y2gtNy0xMjM0NTY=", "dGlja2VyLTEyMzQ1Njc="]
    private static let channels = "channels: {match-7: \(ids[0]), ticker: {id: \(ids[1]), policy: none}}"

    private func job(_ channel: String, _ more: String = "") -> String {
        let aps = #"{"event":"update","timestamp":1795262400,"content-state":{"home":2}}"#
        return #"{"channel":"\#(channel)","payload":{"aps":\#(aps)}\#(more)}"#
    }

    private func modern() throws -> Modern {
        try Modern { $0.channels = [Self.ids[0]: .latest, Self.ids[1]: .nothing] }
    }

    @Test func `a job with a channel goes out once, by name and by id, and devices are sent to as before`() async throws
    {
        try await modern().serving(Self.channels) { bench, _ in
            try bench.drop("name.json", job("match-7", #","record":"all""#), app: "modern")
            try bench.drop("id.json", job(Self.ids[1]), app: "modern")
            try bench.drop("one.json", #"{"token":"\#(token(1))","alert":"x"}"#, app: "modern")
            for name in ["name.json", "id.json", "one.json"] {
                let line = try await bench.end(of: name, app: "modern")
                #expect(line.state == "done" && line.accepted == 1 && line.notifications == 1, "\(line)")
            }
            let requests = await bench.simulator.ledger.accepted.compactMap(\.request)
            let broadcasts = requests.filter { $0[":path"] == "/4/broadcasts/apps/com.example.weather" }
            #expect(requests.count == 3 && Set(broadcasts.map { $0["apns-channel-id"] }) == Set(Self.ids))
            let line = try #require(try bench.lines("notification", app: "modern").first)
            #expect(line.channel == Self.ids[0] && line.token == nil && line.outcome == "accepted")
            #expect(broadcasts.contains { $0.id == line.apns_id })
            #expect(await bench.simulator.ledger.violations.isEmpty)
        }
    }

    @Test func `what Apple refuses is a rejection of the job's one notification`() async throws {
        try await modern().serving { bench, _ in
            try bench.drop("gone.json", job("Z29uZS0xMjM0NTY3ODk="), app: "modern")
            let line = try await bench.end(of: "gone.json", app: "modern")
            #expect(line.state == "failed" && line.code == "refused" && line.rejected == 1)
            let notification = try #require(try bench.lines("notification", app: "modern").first)
            #expect(notification.reason == "ChannelNotRegistered" && notification.verdict == "invalid")
            #expect(notification.channel == "Z29uZS0xMjM0NTY3ODk=")
        }
    }

    @Test func `an expiration that the channel does not take is found before anything is sent`() async throws {
        try await modern().serving(Self.channels) { bench, _ in
            try bench.drop("late.json", job("ticker", #","expiration":"+1h""#), app: "modern")
            let line = try await bench.end(of: "late.json", app: "modern")
            #expect(line.state == "failed" && line.code == "invalid")
            let finding = try await bench.result(of: line).diagnostics?.first
            #expect(finding?.path == "expiration" && finding?.hint?.contains("--policy latest") == true)
            #expect(await bench.simulator.ledger.entries.isEmpty)
        }
    }

    @Test func `a name that the app learns is known at once`() async throws {
        try await modern().running { bench in
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("early.json", job("match-7"), app: "modern")
                #expect(try await bench.end(of: "early.json", app: "modern").code == "invalid")
                try bench.configureModern(Self.channels)
                daemon.send(SIGHUP)
                try await daemon.says("app reconfigured")
                try bench.drop("late.json", job("match-7"), app: "modern")
                #expect(try await bench.end(of: "late.json", app: "modern").accepted == 1)
            }
        }
    }

    @Test func `a broadcast that was accepted is not sent again, and its copy is a duplicate`() async throws {
        try await modern().serving(Self.channels) { bench, _ in
            try bench.drop("goal.json", job("match-7", #","id":"goal-1""#), app: "modern")
            #expect(try await bench.end(of: "goal.json", app: "modern").state == "done")
            try bench.drop("again.json", job("match-7", #","id":"goal-1""#), app: "modern")
            #expect(try await bench.end(of: "again.json", app: "modern").code == "duplicate")
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test func `however often the daemon is killed, each broadcast goes out, and few twice`() async throws {
        let rounds = isFullRun ? 50 : 4
        try await modern().running { bench in
            try bench.configureModern(Self.channels, as: "weather")
            try await bench.withDaemon { try await $0.says("app started") }
            var unfinishedCount = 0
            for round in 0..<rounds {
                for number in 0..<20 { try bench.drop("b\(round)-\(number).json", job(Self.ids[number % 2])) }
                try await bench.withDaemon { daemon in
                    let count = await bench.simulator.ledger.arrivedCount + round * 3 % 20 + 1
                    _ = try await bench.accepted(count)
                    try await daemon.destroy()
                }
                unfinishedCount += 20 * (round + 1) - bench.jobs(in: "done").count
            }
            try await bench.withDaemon { _ in
                try await eventually("all done; left \(bench.names(in: "weather/new"))") {
                    _ = try bench.giveBackHeld()
                    return bench.jobs(in: "done").count == rounds * 20
                }
            }
            let ledger = await bench.simulator.ledger
            let ids = ledger.accepted.compactMap(\.request?["apns-request-id"])
            #expect(Set(ids).count == rounds * 20 && ledger.violations.isEmpty)
            // What was not done at a kill, however much of it was sent, may go out once more.
            #expect(ids.count <= rounds * 20 + unfinishedCount, "\(unfinishedCount) unfinished")
            #expect(Set(try bench.lines("job").compactMap(\.job)).count == rounds * 20)
        }
    }
}
