import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Fair turns: lanes, apps, jobs, and rates.
@Suite struct TurnTests {
    /// A job of so many equal lines.
    private static func lines(_ count: Int, _ text: String = "n") -> String {
        "{\"defaults\":{\"alert\":\"\(text)\"}}\n" + String(repeating: "\"\(token(7))\"\n", count: count)
    }

    @Test func `an urgent job goes out beside a large one, and neither is faster than the rate`() async throws {
        let start = Date().timeIntervalSince1970
        try await Bench.running(try .init(app: "rate: 500/s")) { bench in
            try bench.makeFolders("weather")
            try bench.drop("bulk-1.jsonl", Self.lines(200_000))
            try await bench.withDaemon { _ in
                let before = try await bench.accepted(500).acceptedCount
                try bench.drop("urgent-1.json", job(1))
                let ledger = try await bench.awaiting { $0.tokenText == token(1) }
                let place = try #require(ledger.accepted.firstIndex { $0.tokenText == token(1) })
                // The queue of the large job alone would last for a minute.
                #expect(place < before + 10_000, "\(place), \(before)")
                for (index, entry) in ledger.accepted.enumerated() {
                    let passed = Double(entry.epochNanoseconds) / 1e9 - start
                    #expect(Double(index + 1) <= 50 + 500 * passed, "\(index) after \(passed) s")
                }
            }
        }
    }

    @Test func `over HTTP2 a rate is kept, too`() async throws {
        let start = Date().timeIntervalSince1970
        try await Modern().serving("rate: 300/s") { bench, _ in
            try bench.drop("many.jsonl", Self.lines(900), app: "modern")
            #expect(try await bench.end(of: "many.jsonl", app: "modern").accepted == 900)
            for (index, entry) in await bench.simulator.ledger.accepted.enumerated() {
                let passed = Double(entry.epochNanoseconds) / 1e9 - start
                #expect(Double(index + 1) <= 30 + 300 * passed, "\(index) after \(passed) s")
            }
        }
    }

    @Test func `two apps with large jobs share`() async throws {
        var setup = try Bench.Setup()
        setup.hasApp = false
        try await Bench.running(setup) { bench in
            for name in ["alpha", "beta"] {
                try bench.configureApp(name)
                try bench.makeFolders(name)
            }
            // It is under way when the other one comes, and still is when that has ended.
            try bench.drop("large.jsonl", Self.lines(200_000, "alpha"), app: "alpha")
            try await bench.withDaemon { _ in
                _ = try await bench.accepted(1)
                try bench.drop("large.jsonl", Self.lines(20_000, "beta"), app: "beta")
                let line = try await bench.end(of: "large.jsonl", app: "beta")
                #expect(line.accepted == 20_000)
                let isBeta = await bench.simulator.ledger.accepted.map { $0.payloadText.contains("beta") }
                let (first, last) = (
                    try #require(isBeta.firstIndex(of: true)), try #require(isBeta.lastIndex(of: true))
                )
                let others = isBeta[first...last].count { !$0 }
                // It is half of them where the machine gives both connections the same time, and none without turns.
                #expect(others > (last - first) / 6, "\(others) of \(last - first)")
            }
        }
    }

    @Test func `an app whose gateway is not there does not delay another`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("away", "gateway: localhost:1")
            for name in ["away", "weather"] { try bench.makeFolders(name) }
            try bench.drop("large.jsonl", Self.lines(200_000), app: "away")
            try await bench.withDaemon { _ in
                for number in 1...3 {
                    try bench.drop("\(number).jsonl", Self.lines(5000))
                    #expect(try await bench.end(of: "\(number).jsonl").accepted == 5000)
                }
                // Silence has settled what the gateway may not have read yet.
                let ledger = try await bench.simulator.ledger { $0.acceptedCount >= 15_000 }
                #expect(ledger.acceptedCount == 15_000)
            }
        }
    }

    @Test func `short files do not wait until a long one is read`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.makeFolders("weather")
            try bench.drop("long.jsonl", Self.lines(1_500_000))
            try bench.drop("short.json", job(1))
            try await bench.withDaemon { _ in
                _ = try await bench.awaiting { $0.tokenText == token(1) }
                #expect(bench.names(in: "weather/new") == ["long.jsonl"])
            }
        }
    }
}

extension Bench {
    /// Makes the folders of an app that the daemon would make, for jobs that are there before it is.
    fileprivate func makeFolders(_ app: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(path)/spool/\(app)/new", withIntermediateDirectories: true)
    }

    /// Waits until a notification like this was accepted.
    fileprivate func awaiting(_ isWanted: (Ledger.Entry) -> Bool) async throws -> Ledger {
        try await awaited("a notification") {
            let ledger = await simulator.ledger
            return ledger.accepted.contains(where: isWanted) ? ledger : nil
        }
    }
}
