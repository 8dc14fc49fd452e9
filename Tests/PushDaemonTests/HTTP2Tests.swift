import Foundation
import GatewaySimulator
import Glibc
import Testing

/// Apps that speak HTTP/2, from the job file to the feedback line.
@Suite struct HTTP2Tests {
    @Test func `a job goes out over HTTP/2 with a provider token`() async throws {
        try await Modern().serving { bench, _ in
            try bench.drop("one.json", job(1), app: "modern")
            let line = try await bench.end(of: "one.json", app: "modern")
            #expect(line.accepted == 1 && line.state == "done")
            let entry = try #require(await bench.simulator.ledger.accepted.first?.request)
            #expect(entry.topic == "com.example.weather" && entry.pushType == "alert")
        }
    }

    @Test func `the sandbox's own ids are in the lines of the notifications, accepted and refused`() async throws {
        var manner = HTTP2Manner()
        manner.tellsUniqueIDs = true
        try await Modern(manner: manner) { $0.foreign = [bytes(of: 2)] }.serving { bench, _ in
            let tokens = (1...40).map { "\"\(token($0))\"" }.joined(separator: ",")
            try bench.drop("all.json", #"{"tokens":[\#(tokens)],"alert":"x","record":"all"}"#, app: "modern")
            #expect(try await bench.end(of: "all.json", app: "modern").accepted == 39)
            let lines = try bench.lines("notification", app: "modern")
            let ids = Set(lines.compactMap(\.unique_id))
            #expect(lines.count == 40 && ids.count == 40 && ids.allSatisfy { $0.utf8.count == 36 })
            #expect(lines.filter { $0.outcome == "rejected" }.map(\.index) == [1])
            let shown = try await bench.run(["show", "--spool", bench.path + "/spool", "all.json"])
            let first = try #require(lines.first { $0.index == 0 }?.unique_id)
            #expect(shown.code == 0 && shown.text.contains("Apple's id of index 0: \(first)"), "\(shown)")
        }
    }

    @Test func `the sandbox's own ids of the first ten are in the job's line, its result, and what is shown of it`()
        async throws
    {
        var manner = HTTP2Manner()
        manner.tellsUniqueIDs = true
        try await Modern(manner: manner) { $0.foreign = [bytes(of: 12)] }.serving { bench, _ in
            let tokens = (1...12).map { "\"\(token($0))\"" }.joined(separator: ",")
            try bench.drop("dozen.json", #"{"tokens":[\#(tokens)],"alert":"x"}"#, app: "modern")
            let line = try await bench.end(of: "dozen.json", app: "modern")
            let ids = try #require(line.unique_ids)
            #expect(Set(ids.keys) == Set((0..<10).map(String.init)) && Set(ids.values).count == 10, "\(line)")
            #expect(try await bench.result(of: line).unique_ids == ids)
            let shown = try await bench.run(["show", "--spool", bench.path + "/spool", "dozen.json"])
            #expect(shown.text.contains("Apple's id of index 9: \(ids["9"] ?? "")"), "\(shown)")
        }
    }

    @Test func `a certificate is an identity, too, and names the topic`() async throws {
        try await Bench.running(try Modern().setup) { bench in
            try bench.configureCertified()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("one.json", job(1), app: "certified")
                #expect(try await bench.end(of: "one.json", app: "certified").accepted == 1)
                try bench.drop("reload.json", job(2, #","push_type":"widgets""#), app: "certified")
                let line = try await bench.end(of: "reload.json", app: "certified")
                #expect(line.code == "invalid")
                let findings = try await bench.result(of: line).diagnostics
                let finding = findings?.first { $0.severity == "error" }
                #expect(finding?.path == "push_type" && finding?.message.contains("certificate") == true)
                let request = try #require(await bench.simulator.ledger.accepted.first?.request)
                #expect(request.topic == "com.example.weather" && request["authorization"] == nil)
            }
        }
    }

    @Test func `topics get their suffix, unless the job names one`() async throws {
        try await Modern().serving { bench, _ in
            try bench.drop("call.json", job(1, #","push_type":"voip""#), app: "modern")
            try bench.drop("own.json", job(2, #","topic":"com.example.other""#), app: "modern")
            _ = try await bench.accepted(2)
            let topics = await bench.simulator.ledger.accepted.compactMap(\.request?.topic).sorted()
            #expect(topics == ["com.example.other", "com.example.weather.voip"])
        }
    }

    @Test func `a job of 4096 bytes goes out, and one of 5120 as a call`() async throws {
        try await Modern().serving { bench, _ in
            for (number, type, limit) in [(1, "alert", 4096), (2, "voip", 5120)] {
                let text = String(repeating: "x", count: limit - 20)
                let body = #"{"token":"\#(token(number))","push_type":"\#(type)","alert":"\#(text)"}"#
                try bench.drop("\(type).json", body, app: "modern")
                #expect(try await bench.end(of: "\(type).json", app: "modern").accepted == 1)
            }
            #expect(await bench.simulator.ledger.accepted.map(\.payload.count).sorted() == [4096, 5120])
        }
    }

    @Test func `a gone token comes back with its time, a bad one without`() async throws {
        let modern = try Modern {
            $0.unregistered = [bytes(of: 1): 1_700_000_000_123]
            $0.foreign = [bytes(of: 2)]
        }
        try await modern.serving { bench, _ in
            let tokens = (1...3).map { "\"\(token($0))\"" }.joined(separator: ",")
            try bench.drop("three.json", #"{"tokens":[\#(tokens)],"alert":"x"}"#, app: "modern")
            let line = try await bench.end(of: "three.json", app: "modern")
            #expect(line.accepted == 1 && line.rejected == 2 && line.state == "done")
            let lines = try bench.lines("notification", app: "modern").sorted { $0.index ?? 0 < $1.index ?? 0 }
            #expect(lines.map(\.reason) == ["Unregistered", "BadDeviceToken"])
            #expect(lines.map(\.status) == [410, 400] && lines.map(\.verdict) == ["gone", "invalid"])
            #expect(lines.map(\.gone_since) == ["2023-11-14T22:13:20.123Z", nil])
            let ids = await bench.simulator.ledger.entries.compactMap(\.request?.id)
            #expect(lines.compactMap(\.apns_id).allSatisfy(ids.contains))
        }
    }

    @Test func `a recipient's own id goes to the gateway, to a second try too, and comes back in feedback`()
        async throws
    {
        let modern = try Modern("times=1 answer reason=ServiceUnavailable; connection=1 after=3 reset")
        let ids = (1...4).map { "123e4567-e89b-12d3-a456-42665544000\($0)" }
        try await modern.serving("retry: {later: 1s, server_error: 1s}") { bench, _ in
            let lines = zip(1..., ids).map { #"{"token":"\#(token($0))","alert":"x","apns_id":"\#($1)"}"# + "\n" }
            try bench.drop("own.jsonl", #"{"job":{"record":"all"}}"# + "\n" + lines.joined(), app: "modern")
            #expect(try await bench.end(of: "own.jsonl", app: "modern").accepted == 4)
            let told = try bench.lines("notification", app: "modern").sorted { $0.index ?? 0 < $1.index ?? 0 }
            #expect(told.map(\.apns_id) == ids)
            let entries = await bench.simulator.ledger.entries
            #expect(entries.count > 4 && Set(entries.compactMap(\.request?.id)) == Set(ids))
        }
    }

    @Test func `an app that is refused stops, and its jobs stay until its file is mended`() async throws {
        let modern = try Modern()
        try await Bench.running(modern.setup) { bench in
            try bench.keepKey(try RegisteredKey.throwaway().privateKey)
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1), app: "modern")
                try await daemon.says("app stopped")
                let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("app stopped") })
                #expect(line.contains("InvalidProviderToken") && line.contains("hint="), "\(line)")
                try bench.drop("later.json", job(2), app: "modern")
                try bench.keepKey(modern.privateKey)
                daemon.send(SIGHUP)
                try await daemon.says("app reconfigured")
                for name in ["waits.json", "later.json"] {
                    #expect(try await bench.end(of: name, app: "modern").accepted == 1)
                }
                #expect(try bench.lines("notification", app: "modern").isEmpty)
            }
        }
    }

    @Test func `a topic of the job's own that is refused stops nobody else`() async throws {
        let modern = try Modern("payload=wrong answer reason=TopicDisallowed")
        try await modern.serving { bench, daemon in
            for number in 1...4 {
                let body = #"{"token":"\#(token(number))","alert":"wrong","topic":"com.example.other"}"#
                try bench.drop("wrong\(number).json", body, app: "modern")
                let line = try await bench.end(of: "wrong\(number).json", app: "modern")
                #expect(line.state == "failed" && line.code == "refused")
            }
            try bench.drop("right.json", job(9), app: "modern")
            #expect(try await bench.end(of: "right.json", app: "modern").accepted == 1)
            #expect(
                try bench.lines("notification", app: "modern").map(\.verdict) == Array(repeating: "message", count: 4))
            #expect(!daemon.log.contains("app stopped"))
        }
    }

    @Test func `what comes to nothing until it is given up is unsent`() async throws {
        let modern = try Modern("answer reason=InternalServerError")
        try await modern.serving("retry: {server_error: 1s}") { bench, _ in
            try bench.drop("late.json", job(1, #","give_up_after":"8s""#), app: "modern")
            let line = try await bench.end(of: "late.json", app: "modern")
            #expect(line.code == "unsent" && line.unsent == 1)
            let told = try #require(try bench.lines("notification", app: "modern").first)
            #expect(told.outcome == "unsent" && told.verdict == "later")
            #expect(await bench.simulator.ledger.refusedCount >= 2)
        }
    }

    @Test func `all apps of a key share one token, and so does the next start`() async throws {
        let modern = try Modern()
        try await Bench.running(modern.setup) { bench in
            try bench.keepKey(modern.privateKey)
            try bench.configureModern()
            try bench.configureModern(as: "second")
            for round in 1...2 {
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started", times: 2)
                    for app in ["modern", "second"] {
                        try bench.drop("\(round).json", job(round), app: app)
                        #expect(try await bench.end(of: "\(round).json", app: app).accepted == 1)
                    }
                    #expect(try await daemon.stop() == 0)
                }
            }
            let ledger = await bench.simulator.ledger
            #expect(Set(ledger.accepted.compactMap { $0.request?["authorization"] }).count == 1)
            #expect(ledger.connectionCount == 4)
            let names = try FileManager.default.contentsOfDirectory(atPath: bench.path + "/state/tokens")
            #expect(names.contains { $0.hasPrefix("ABC123DEFG-DEF123GHIJ-") && $0.hasSuffix(".jwt") }, "\(names)")
        }
    }

    @Test func `a change of protocol sends what waited over the other one`() async throws {
        let modern = try Modern()
        try await Bench.running(modern.setup) { bench in
            try bench.keepKey(modern.privateKey)
            try bench.configureApp("modern", "gateway: localhost:1")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1), app: "modern")
                try await daemon.says("connection ended")
                try bench.configureModern()
                daemon.send(SIGHUP)
                try await daemon.says("app restarts because its protocol changed")
                #expect(try await bench.end(of: "waits.json", app: "modern").accepted == 1)
                let ledger = await bench.simulator.ledger
                #expect(ledger.accepted.first?.request != nil && ledger.duplicates.isEmpty)
            }
        }
    }
}

extension Bench {
    fileprivate func configureCertified() throws {
        try write(
            "etc/apps/certified.yaml",
            """
            protocol: http2
            environment: sandbox
            credentials: {certificate: \(path)/certificates/client.pem}
            trust: \(path)/certificates/ca.pem
            gateway: localhost:\(simulator.ports.http2)

            """)
    }
}
