import Foundation
import JobOperations
import LinuxIO
import PushModel
import SpoolModel
import TestSupport
import Testing

@testable import AppEngine

/// An app's stations together, without a process, a daemon or a connection.
@Suite(.timeLimit(.minutes(isFullRun ? 60 : 10)))
struct EngineTests {
    private let home: Engine.Home

    init() throws { home = try Engine.Home() }

    // MARK: Intake

    @Test func `a file that is still being written is left alone, and others are taken`() async throws {
        let home = try Engine.Home(patience: "1h")
        let text = Engine.Home.job(2)
        try home.write("spool/weather/new/a.json", String(text.prefix(80)))
        try await Engine.running(in: home) { engine in
            try home.drop("b.json", Engine.Home.job(3))
            try await engine.handed(3)
            #expect(home.files("new") == ["a.json"])
            try home.write("spool/weather/new/a.json", text)
            try await engine.handed(5)
        }
    }

    @Test func `the journal tells that a file was read without harm: by its header, or by an end if it is not claimed`()
        async throws
    {
        let time = Date(timeIntervalSinceNow: 3_600).ISO8601Format()
        try home.drop("a.json", Engine.Home.job(1))
        try home.drop("later.json", Engine.Home.job(1, #","not_before":"\#(time)""#))
        try await Engine.running(in: home) { engine in
            try await engine.handed(1)
            try await eventually("the end of a reading") { try home.journal().contains("ENDED weather later.json") }
            let journal = try home.journal()
            for name in ["a.json", "later.json"] { #expect(journal.contains("START weather \(name)")) }
            #expect(journal.contains(" weather a.json") && !journal.contains("ENDED weather a.json"))
            #expect(journal.contains("CLAIMED"))
        }
    }

    // MARK: Claims

    @Test(arguments: [#"{"tokens":["0"],"alert":"x"}"#, #"{"tokens":[]}"#, "{]"])
    func `a job that cannot be sent fails, and the gateway gets nothing of it`(text: String) async throws {
        try home.drop("a.json", text)
        try await Engine.running(in: home) { engine in
            try await eventually("failed") { home.files("failed") == ["a.json", "a.json.result.json"] }
            #expect(await engine.gateway.handed.isEmpty)
        }
    }

    @Test func `a second job with the id of one that is sent is a duplicate`() async throws {
        try await Engine.running(in: home, acceptsAll: true) { engine in
            for name in ["a.json", "b.json"] {
                try home.drop(name, Engine.Home.job(1, #","id":"order-1""#))
                try await eventually("\(name) ends") { (home.files("done") + home.files("failed")).contains(name) }
            }
            #expect(home.files("done") == ["a.json"] && home.files("failed").contains("b.json"))
            #expect(await engine.gateway.handed == [0])
        }
    }

    // MARK: Sending

    @Test func `what has expired is not handed over`() async throws {
        try home.drop("a.json", Engine.Home.job(2, #","expiration":"2020-01-01T00:00:00Z""#))
        try await Engine.running(in: home) { engine in
            try await eventually("failed") { home.files("failed").contains("a.json") }
            #expect(await engine.gateway.handed.isEmpty)
        }
    }

    @Test func `a job of which nothing was written is taken back from the gateway when it is held`() async throws {
        try home.drop("a.json", Engine.Home.job(3))
        try await Engine.running(in: home) { engine in
            try await engine.handed(3)
            #expect(try await engine.carryOut(.hold).isGood)
            #expect(home.files("hold").contains("a.json") && home.files("work").isEmpty)
            #expect(await engine.gateway.waitingIndices.isEmpty)
        }
    }

    @Test func `a job of which a part is on a connection is held with the rest when that part has its outcome`()
        async throws
    {
        try home.drop("a.json", Engine.Home.job(3))
        try await Engine.running(in: home) { engine in
            try await engine.handed(3)
            await engine.gateway.write(1)
            async let answer = engine.carryOut(.hold)
            try await eventually("the rest is taken back") { await engine.gateway.waitingIndices.isEmpty }
            #expect(home.files("hold").isEmpty)
            await engine.gateway.settle(1, .accepted)
            #expect(try await answer.isGood)
            #expect(home.files("hold") == ["a.json", "a.json.rest"] && home.files("work").isEmpty)
            #expect(try await engine.carryOut(.release).isGood)
            try await engine.handed(2)
            #expect(await engine.gateway.waitingIndices == [1, 2])
        }
    }

    // MARK: Outcomes and archives

    @Test func `a job is handed to the gateway, and archived when each notification has its outcome`() async throws {
        try home.drop("a.json", Engine.Home.job(5, #","record":"all""#))
        try await Engine.running(in: home) { engine in
            try await engine.handed(5)
            #expect(home.files("new").isEmpty && home.files("work").count == 1 && home.files("done").isEmpty)
            await engine.settle(4, .accepted)
            await engine.settle(1, Engine.gone)
            try await eventually("done") { home.files("done") == ["a.json", "a.json.result.json"] }
            try await eventually("recorded") { await engine.gateway.recordedCount == 5 }
        }
        #expect(home.files("work").isEmpty)
        let lines = try home.feedback()
        let outcomes = ["accepted", "rejected"].map { kind in lines.count { $0.contains("\"outcome\":\"\(kind)\"") } }
        #expect(outcomes == [4, 1] && lines.count { $0.contains("\"kind\":\"job\"") } == 1, "\(lines)")
    }

    @Test func `a job of which nothing is accepted fails`() async throws {
        try home.drop("a.json", Engine.Home.job(2))
        try await Engine.running(in: home) { engine in
            try await engine.handed(2)
            await engine.settle(2, Engine.gone)
            try await eventually("failed") { home.files("failed") == ["a.json", "a.json.result.json"] }
        }
    }

    @Test func `what producers are to know and could not be told is told at the stop`() async throws {
        let list = "\(home.spool)/weather/tmp/.jobs/ended-node-a"
        try await Engine.running(in: home, acceptsAll: true) { engine in
            try FileManager.default.createDirectory(atPath: list, withIntermediateDirectories: true)
            try home.drop("a.json", Engine.Home.job(1))
            try await eventually("forgotten") { try home.journal().contains("CLEANED") }
            try FileManager.default.removeItem(atPath: list)
        }
        #expect(try String(contentsOfFile: list, encoding: .utf8).contains("a.json"))
    }

    // MARK: Recovery

    @Test func `what had an outcome before a stop is not handed over again`() async throws {
        try home.drop("a.json", Engine.Home.job(10))
        try await Engine.running(in: home) { engine in
            try await engine.handed(10)
            await engine.settle(6, .accepted)
            try await eventually("recorded") { await engine.gateway.recordedCount == 6 }
        }
        #expect(home.files("work").count == 1 && home.files("done").isEmpty)
        try await Engine.running(in: home) { engine in
            try await engine.handed(4)
            #expect(await engine.gateway.handed == [6, 7, 8, 9])
            await engine.settle(4, .accepted)
            try await eventually("done") { home.files("done") == ["a.json"] }
        }
    }

    #if FAILPOINTS
        @Test(arguments: MemoryVolume.Order.allCases)
        func `a loss of power loses nothing, and hands over again only what was neither recorded nor told`(
            order: MemoryVolume.Order
        ) async throws {
            try home.drop("a.json", Engine.Home.job(4, #","record":"all""#))
            var volume = try MemoryVolume(copying: Directory.open(path: home.spool), order: order)
            let plan = FailPlan(under: home.spool, isRecording: true)
            plan.install()
            defer { plan.remove() }
            // The changes before the gateway gave two outcomes, and those until they were recorded.
            var (told, recorded) = ([Int](), [Int]())
            try await Engine.running(in: home) { engine in
                try await engine.handed(4)
                for count in [2, 4] {
                    told.append(plan.changes.count)
                    await engine.settle(2, .accepted)
                    try await eventually("recorded") { await engine.gateway.recordedCount == count }
                    recorded.append(plan.changes.count)
                }
                try await eventually("done") { home.files("done") == ["a.json"] }
            }
            let changes = plan.changes
            var known: [(state: CrashState, handed: [Int])] = []
            func handedAgain(after state: CrashState) async throws -> [Int] {
                if let earlier = known.first(where: { $0.state.isSame(as: state) }) { return earlier.handed }
                known.append((state, try await sent(after: state)))
                return known[known.count - 1].handed
            }
            for step in 0...changes.count {
                if step > 0 { try volume.apply(changes[step - 1]) }
                guard isFullRun || step % 3 == 0 else { continue }
                // With nothing, and with everything, that was not synced.
                for state in volume.crashStates(seed: UInt64(step), count: isFullRun ? 8 : 2) {
                    let handed = try await handedAgain(after: state)
                    let first = handed.first ?? 4
                    let possible = recorded.count { $0 <= step } * 2...told.count { $0 < step } * 2
                    #expect(
                        handed == Array(first..<4) && possible.contains(first),
                        "after \(step) of \(changes.count), \(possible) are recorded: \(handed)")
                    #expect(Self.lastToldIndex(in: changes[..<step]) < first, "after \(step): \(handed)")
                }
            }
        }

        /// The last notification whose outcome a line of feedback had told by these changes, published or early; -1: none.
        private static func lastToldIndex(in changes: ArraySlice<FileChange>) -> Int {
            var last = -1
            for case .written(_, _, let bytes) in changes where bytes.starts(with: #"{"v":1,"kind":"#.utf8) {
                for part in String(decoding: bytes, as: UTF8.self).components(separatedBy: "\"index\":").dropFirst() {
                    last = max(last, Int(part.prefix { $0.isNumber }) ?? -1)
                }
            }
            return last
        }

        /// Runs the app after a loss of power, and returns what it hands to a gateway that accepts everything.
        private func sent(after crash: CrashState) async throws -> [Int] {
            let home = try Engine.Home(after: crash)
            var gateway: GatewayDouble?
            try await Engine.running(in: home, acceptsAll: true) { engine in
                gateway = engine.gateway
                try await eventually("done, and nothing is left to recover") {
                    home.files("done") == ["a.json"] ? await engine.runner.isThrough : false
                }
            }
            #expect(home.files("work").isEmpty && home.files("new").isEmpty && home.files("failed").isEmpty)
            return try await #require(gateway).handed.sorted()
        }
    #endif
}
