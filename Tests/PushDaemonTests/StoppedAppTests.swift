import Foundation
import GatewaySimulator
import Glibc
import PushModel
import TestSupport
import Testing

@testable import AppEngine
@testable import PushDaemon

/// Apps that the gateway lets in no more, and what they ask with when it may have changed its mind.
@Suite struct StoppedAppTests {
    /// Stops an app that has a job which pauses for an hour and nothing that waits.
    private func stop(_ bench: Bench, _ daemon: Program) async throws {
        try bench.drop("pauses.json", job(1, saying: "failing"), app: "modern")
        try await eventually("a failure") { await bench.simulator.ledger.refusedCount > 0 }
        try bench.configureModern("retry: {server_error: 1s, ceiling: 1s}")
        daemon.send(SIGHUP)
        try await daemon.says("app reconfigured")
        try bench.drop("stops.json", job(2, saying: "stopping", #","give_up_after":"15s""#), app: "modern")
        try await daemon.says("app stopped")
    }

    /// What says that something was mended, perhaps at the other end.
    enum Word: CaseIterable {
        case hangup, touchedFile, comment, touchedKey
    }

    @Test(arguments: Word.allCases)
    func `a stopped app asks again at HUP, and whatever of its files changes`(word: Word) async throws {
        try await Modern("times=1 answer reason=Forbidden").serving { bench, daemon in
            try bench.drop("a.json", job(1), app: "modern")
            try await daemon.says("app stopped")
            let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
            try await eventually("a reason in the status") {
                let text = try await bench.run(command).text
                return text.contains("modern  stopped") && text.contains("modern is stopped: the gateway answered")
            }
            switch word {
            case .hangup: daemon.send(SIGHUP)
            case .touchedFile: try await bench.tool("touch", bench.path + "/etc/apps/modern.yaml")
            case .comment: try bench.configureModern("# as before")
            case .touchedKey: try await bench.tool("touch", bench.path + "/etc/key.p8")
            }
            #expect(try await bench.end(of: "a.json", app: "modern").accepted == 1)
            try await daemon.says("app resumed")
        }
    }

    @Test func `a stopped app asks again with what pauses if nothing else is left`() async throws {
        let modern = try Modern(
            """
            payload=failing times=1 answer reason=InternalServerError
            payload=stopping answer reason=Forbidden
            """)
        try await modern.serving("retry: {server_error: 1h, ceiling: 1h}") { bench, daemon in
            try await stop(bench, daemon)
            #expect(try await bench.end(of: "stops.json", app: "modern").unsent == 1)
            #expect(try await bench.end(of: "pauses.json", app: "modern").accepted == 1)
            try await daemon.says("app resumed")
        }
    }

    @Test func `a stopped app asks again with a job of new when what pauses comes to nothing`() async throws {
        let modern = try Modern(
            """
            payload=failing answer reason=InternalServerError
            payload=stopping answer reason=Forbidden
            """)
        try await modern.running { bench in
            try bench.configureModern("retry: {server_error: 1h, ceiling: 1h}")
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try await stop(bench, daemon)
                try bench.drop("new.json", job(3), app: "modern")
                #expect(try await bench.end(of: "new.json", app: "modern").accepted == 1)
                try await daemon.says("app resumed")
            }
        }
    }

    @Test func `a change of the configuration starts a stopped app with requests in flight`() async throws {
        var manner = HTTP2Manner()
        (manner.latency, manner.streamLimitBeforeToken) = (.seconds(20), nil)
        let modern = try Modern("payload=stopping times=3 answer reason=Forbidden", manner: manner)
        try await modern.serving { bench, daemon in
            try bench.drop("flies.json", job(tokens: 0..<50), app: "modern")
            _ = try await bench.accepted(50)
            let stopping = (0..<3).map { "stops\($0).json" }
            for (number, name) in stopping.enumerated() {
                try bench.drop(name, job(97 + number, saying: "stopping"), app: "modern")
            }
            try await daemon.says("app stopped")
            try bench.configureModern("timeouts: {connect: 5s}")
            daemon.send(SIGHUP)
            try await daemon.says("app reconfigured")
            #expect(try bench.lines("job", app: "modern").isEmpty)
            for name in ["flies.json"] + stopping {
                let line = try await bench.end(of: name, app: "modern")
                #expect(line.accepted == line.notifications)
            }
            let ledger = await bench.simulator.ledger
            #expect(ledger.acceptedCount == 53 && ledger.duplicateIDs.isEmpty)
        }
    }

    /// All answers that blame the app for what one job meets with.
    @Test(arguments: ["Forbidden", "InvalidProviderToken", "ExpiredProviderToken", "MissingTopic", "Odd status=403"])
    func `one job that the gateway refuses keeps no other from being sent`(answer: String) async throws {
        let modern = try Modern("payload=culprit answer reason=\(answer)")
        try await modern.serving { bench, daemon in
            try bench.drop("culprit.json", job(tokens: 0..<20, saying: "culprit"), app: "modern")
            try await daemon.says("app stopped")
            for number in 100..<104 {
                let name = number.isMultiple(of: 2) ? "urgent-\(number).json" : "good-\(number).json"
                try bench.drop(name, job(number), app: "modern")
                #expect(try await bench.end(of: name, app: "modern").accepted == 1)
            }
            #expect(try await bench.operate("cancel", "culprit.json").code == 0)
            #expect(try await bench.end(of: "culprit.json", app: "modern").unsent == 20)
            #expect(await bench.simulator.ledger.acceptedCount == 4)
        }
    }

    @Test func `a job for which new tokens are called expired stops neither others nor another app of the key`()
        async throws
    {
        try await Modern("payload=culprit answer reason=ExpiredProviderToken").running { bench in
            let apps = ["modern", "other"]
            for app in apps { try bench.configureModern(as: app) }
            try await bench.withDaemon(drain: 0) { daemon in
                for app in apps {
                    try await daemon.says("app started app=\(app)")
                    try bench.drop("first.json", job(1), app: app)
                    #expect(try await bench.end(of: "first.json", app: app).accepted == 1)
                }
                for (count, app) in zip([2, 4], apps) {
                    try bench.drop("culprit.json", job(2, saying: "culprit"), app: app)
                    try await eventually("two refusals") { await bench.simulator.ledger.refusedCount >= count }
                }
                for app in apps {
                    try bench.drop("urgent.json", job(3), app: app)
                    #expect(try await bench.end(of: "urgent.json", app: app).accepted == 1)
                }
                #expect(!daemon.log.contains("TooManyProviderTokenUpdates"))
            }
        }
    }

    @Test func `a job that always meets too many provider tokens rests no other`() async throws {
        let modern = try Modern("payload=culprit answer reason=TooManyProviderTokenUpdates")
        try await modern.serving("retry: {later: 1h}") { bench, _ in
            try bench.drop("culprit.json", job(tokens: 0..<3, saying: "culprit"), app: "modern")
            try await eventually("two refusals") { await bench.simulator.ledger.refusedCount >= 2 }
            for name in ["good.json", "urgent-1.json"] {
                try bench.drop(name, job(100), app: "modern")
                #expect(try await bench.end(of: name, app: "modern").accepted == 1)
            }
            #expect(try await bench.operate("cancel", "culprit.json").code == 0)
            #expect(try await bench.end(of: "culprit.json", app: "modern").unsent == 3)
        }
    }

    @Test(arguments: [1, 42, 255])
    func `a job that fails a gateway of the binary protocol costs others no pause`(status: Int) async throws {
        try await Bench.serving(Bench.Setup(script: "payload=culprit refuse status=\(status)")) { bench, daemon in
            try bench.drop("culprit.json", job(tokens: 0..<3, saying: "culprit"))
            try await eventually("a refusal") { await bench.simulator.ledger.refusedCount > 0 }
            for name in ["good.json", "urgent-1.json"] {
                try bench.drop(name, job(100))
                #expect(try await bench.end(of: name).accepted == 1)
            }
            #expect(!daemon.log.contains("pause="))
            #expect(try await bench.operate("cancel", "culprit.json").code == 0)
            #expect(try await bench.end(of: "culprit.json").accepted == 0)
        }
    }

    @Test(arguments: ["cancel", "resume"])
    func `an app that one job stopped asks again when the job is cancelled, and when it is resumed`(
        command: String
    ) async throws {
        try await Modern("payload=culprit answer reason=Forbidden").serving { bench, daemon in
            try bench.drop("culprit.json", job(0, saying: "culprit"), app: "modern")
            try await daemon.says("app stopped")
            let object = command == "cancel" ? "culprit.json" : "modern"
            #expect(try await bench.operate(command, object).code == 0)
            try await daemon.says("app tries its gateway again")
            try bench.drop("good.json", job(1), app: "modern")
            #expect(try await bench.end(of: "good.json", app: "modern").accepted == 1)
            try await daemon.says("app resumed")
            _ = try await bench.operate("cancel", "culprit.json")
            _ = try await bench.end(of: "culprit.json", app: "modern")
        }
    }

    /// Refused jobs: as many as stop an app, and many more. The app has never sent anything, or has.
    @Test(arguments: [3, 20], [false, true])
    func `refused jobs hide none that the gateway accepts`(count: Int, isProven: Bool) async throws {
        try await Modern("payload=culprit answer reason=Forbidden").running { bench in
            try bench.configureModern()
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try await sendGood(bench, app: "modern", after: count, isProven: isProven)
                try await daemon.says("app stopped")
            }
        }
    }

    @Test func `refused jobs hide none that a gateway of the binary protocol accepts`() async throws {
        try await Bench.running(try .init(script: "payload=culprit refuse status=6")) { bench in
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try await sendGood(bench, app: "weather", after: 20, isProven: true)
                try await daemon.says("app stopped")
            }
        }
    }

    /// Drops `count` jobs that the gateway refuses, and others when the app has stopped, which the gateway accepts.
    private func sendGood(_ bench: Bench, app: String, after count: Int, isProven: Bool) async throws {
        if isProven {
            try bench.drop("first.json", job(0), app: app)
            #expect(try await bench.end(of: "first.json", app: app).accepted == 1)
        }
        for number in 1...count {
            try bench.drop("bad-\(number).json", job(number, saying: "culprit"), app: app)
        }
        try await eventually("a stop") { try await bench.operate("status").text.contains("\(app)  stopped") }
        for name in ["urgent-good.json", "good.json", "bulk-good.json"] {
            try bench.drop(name, job(100), app: app)
            #expect(try await bench.end(of: name, app: app).accepted == 1)
        }
    }

    @Test func `the log names each refused job once, and status, list and show say that it waits and why`() async throws
    {
        try await Modern("payload=culprit answer reason=InvalidProviderToken").running { bench in
            try bench.configureModern()
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try bench.drop("good.json", job(0), app: "modern")
                #expect(try await bench.end(of: "good.json", app: "modern").accepted == 1)
                let names = ["one.json", "two.json"]
                for (number, name) in names.enumerated() {
                    try bench.drop(name, job(1 + number, saying: "culprit"), app: "modern")
                }
                let reason = "refused: the gateway answered InvalidProviderToken (status 403); asks again "
                for command in [["status"], ["list"]] + names.map({ ["show", "modern/\($0)"] }) {
                    try await eventually("a reason in \(command)") {
                        let text = try await bench.operate(command).text
                        return text.contains(reason) && (command[0] == "show" || names.allSatisfy(text.contains))
                    }
                }
                #expect(
                    try await bench.operate("show", "--json", "modern/one.json").text.contains(#""reason":"refused: "#))
                #expect(try await bench.operate("list", "--json").text.contains(#""reason":"refused: "#))
                for name in names {
                    let lines = daemon.log.split(separator: "\n").filter {
                        $0.contains("gateway refuses job") && $0.contains(name)
                    }
                    #expect(lines.count == 1, "\(lines)")
                    #expect(lines.first?.contains("InvalidProviderToken") == true)
                    #expect(lines.first?.contains("correct or cancel this one") == true)
                }
                #expect(!daemon.log.contains("cannot send to the gateway"))
                await bench.simulator.setScript(.none)
                #expect(try await bench.operate("resume", "modern").code == 0)
                for name in names { #expect(try await bench.end(of: name, app: "modern").accepted == 1) }
            }
        }
    }

    @Test func `the log names a job that a gateway of the binary protocol refuses`() async throws {
        try await Bench.running(try .init(script: "payload=culprit refuse status=6")) { bench in
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try bench.drop("bad.json", job(1, saying: "culprit"))
                try await daemon.says("gateway refuses job")
                try bench.drop("good.json", job(2))
                #expect(try await bench.end(of: "good.json").accepted == 1)
                let lines = daemon.log.split(separator: "\n").filter { $0.contains("gateway refuses job") }
                #expect(lines.count == 1 && lines.first?.contains("bad.json") == true, "\(lines)")
            }
        }
    }

    @Test func `an acceptance before a restart counts, and one with other credentials does not`() async throws {
        try await Modern("nth=2 times=1 answer reason=InvalidProviderToken").running { bench in
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("first.json", job(1), app: "modern")
                #expect(try await bench.end(of: "first.json", app: "modern").accepted == 1)
                #expect(try await daemon.stop() == 0)
            }
            let mark = try String(contentsOfFile: bench.path + "/state/accepted-modern", encoding: .utf8)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("second.json", job(2), app: "modern")
                #expect(try await bench.end(of: "second.json", app: "modern").accepted == 1)
                #expect(!daemon.log.contains("app stopped"))
                #expect(try await daemon.stop() == 0)
            }
            let other = mark.replacing(/[0-9a-f]+\n/, with: "0000\n")
            try bench.write("state/accepted-modern", other)
            await bench.simulator.setScript(try FaultScript("answer reason=InvalidProviderToken"))
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try bench.drop("third.json", job(3), app: "modern")
                try await daemon.says("app stopped")
            }
        }
    }

    @Test func `a job whose derived topic the gateway refuses ends, and the app goes on`() async throws {
        let modern = try Modern("payload=ring answer reason=TopicDisallowed")
        try await modern.serving { bench, daemon in
            let ring = job(7, saying: "ring", #","push_type":"voip""#)
            try bench.drop("ring.json", ring, app: "modern")
            try bench.drop("good.json", job(8), app: "modern")
            let line = try await bench.end(of: "ring.json", app: "modern")
            #expect(line.rejected == 1 && line.code == "refused")
            #expect(try bench.lines("notification", app: "modern").map(\.verdict) == ["message"])
            #expect(try await bench.end(of: "good.json", app: "modern").accepted == 1)
            #expect(!daemon.log.contains("app stopped"))
        }
    }

    @Test func `refusals of three jobs stop the app, and it asks once each time`() async throws {
        try await Modern("times=5 answer reason=Forbidden").serving("retry: {ceiling: 1s}") { bench, daemon in
            for number in 0..<5 { try bench.drop("\(number).json", job(number), app: "modern") }
            for number in 0..<5 { #expect(try await bench.end(of: "\(number).json", app: "modern").accepted == 1) }
            try await daemon.says("app resumed")
            #expect(await bench.simulator.ledger.refusedCount == 5)
        }
    }

    @Test func `a stray refusal of the identity costs seconds`() async throws {
        try await Modern("every=50 answer reason=InvalidProviderToken").serving { bench, daemon in
            try bench.drop("many.json", job(tokens: 0..<200), app: "modern")
            #expect(try await bench.end(of: "many.json", app: "modern").accepted == 200)
            #expect(await bench.simulator.ledger.refusedCount >= 4 && !daemon.log.contains("app stopped"))
        }
    }

    @Test func `a connection that fails everything is replaced, and the log says so`() async throws {
        let modern = try Modern("connection=1 answer reason=InternalServerError")
        try await modern.serving("retry: {server_error: 1s}") { bench, daemon in
            try bench.drop("many.json", job(tokens: 0..<200), app: "modern")
            #expect(try await bench.end(of: "many.json", app: "modern").accepted == 200)
            #expect(daemon.log.contains("10 answers on it reported server errors"))
        }
    }

    @Test func `connections that are cut after some progress are followed by others at once`() async throws {
        // What is in doubt for the third time pauses as after 5xx.
        let modern = try Modern("nth=31 per=connection cut")
        try await modern.serving("retry: {server_error: 1s}") { bench, daemon in
            try bench.drop("many.json", job(tokens: 0..<1000), app: "modern")
            #expect(try await bench.end(of: "many.json", app: "modern").accepted == 1000)
            let ends = daemon.log.split(separator: "\n").filter { $0.contains("connection ended") }
            #expect(ends.count > 20 && !ends.contains { $0.contains("pause=") }, "\(ends.suffix(3))")
        }
    }
}
