import Foundation
import GatewaySimulator
import PushModel
import TestSupport
import Testing

/// Jobs whose time has not come.
@Suite struct PostponedJobTests {
    static let forms: [(name: String, count: Int)] = [("one.json", 1), ("few.jsonl", 3), ("many.jsonl", 2_000)]

    private func text(_ name: String, _ count: Int, notBefore time: String) -> String {
        guard name.hasSuffix("jsonl") else { return job(1, #","not_before":"\#(time)""#) }
        let head = #"{"job":{"not_before":"\#(time)","count":\#(count)},"defaults":{"alert":"Hi"}}"#
        return head + "\n" + (1...count).map { "\"\(token($0))\"\n" }.joined()
    }

    @Test(arguments: forms)
    func `a job is claimed when its time has come, and not before`(name: String, count: Int) async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let time = WallTime(epochSeconds: Int64(Date.now.timeIntervalSince1970) + 3).rfc3339
            try bench.drop(name, text(name, count, notBefore: time))
            let line = try await bench.end(of: name)
            #expect(line.accepted == count)
            let (droppedAt, claimedAt) = (try #require(line.dropped_at), try #require(line.claimed_at))
            #expect(droppedAt < time && time <= claimedAt)
            #expect(await bench.simulator.ledger.acceptedCount == count)
        }
    }

    @Test func `a job that waits is in new, where it can be cancelled, held and replaced`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            for (number, name) in ["a.json", "b.json", "c.json"].enumerated() {
                try bench.drop(name, job(number, #","not_before":"+1h""#))
            }
            try await daemon.says("job waits until its not_before time", times: 3)
            let list = try await bench.run(["list", "--spool", "\(bench.path)/spool"])
            #expect(list.code == 0 && list.text.components(separatedBy: " waiting ").count == 4, "\(list)")
            let weather = bench.path + "/spool/weather/"
            try FileManager.default.removeItem(atPath: weather + "new/a.json")
            try FileManager.default.moveItem(atPath: weather + "new/b.json", toPath: weather + "hold/b.json")
            try bench.drop("c.json", job(9))
            #expect(try await bench.end(of: "c.json").accepted == 1)
            #expect(await bench.simulator.ledger.acceptedTokens == [Array(hex: token(9))])
            #expect(bench.names(in: "weather/new").isEmpty && bench.names(in: "weather/hold") == ["b.json"])
        }
    }

    @Test func `its faults are told at once`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("wrong.json", job(1, #","not_before":"+1h","colour":"blue""#))
            #expect(try await bench.end(of: "wrong.json").code == "invalid")
            try bench.drop("late.json", job(1, #","not_before":"+1h","expiration":"+30m""#))
            let line = try await bench.end(of: "late.json")
            let finding = try #require(try await bench.result(of: line).diagnostics?.first)
            #expect(line.code == "invalid" && finding.path == "expiration")
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }

    @Test func `a job that waits still waits after a restart`() async throws {
        try await Bench.running(try .init()) { bench in
            for round in 0..<2 {
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    if round == 0 { try bench.drop("later.json", job(1, #","not_before":"+1h""#)) }
                    try await daemon.says("job waits until its not_before time")
                    #expect(try await daemon.stop() == 0)
                }
                #expect(bench.names(in: "weather/new") == ["later.json"])
            }
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }
}
