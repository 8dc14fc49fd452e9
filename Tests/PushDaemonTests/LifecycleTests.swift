import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import OpenSSL
import TestSupport
import Testing

/// Daemons that start, stop and read their configuration again.
@Suite struct LifecycleTests {
    @Test func `a gateway that reads no more loses the connection after timeouts.write, and nobody his notification`()
        async throws
    {
        let setup = try Bench.Setup(script: "connection=1 after=5 blackhole", app: "timeouts: {write: 10s}")
        try await Bench.serving(setup) { bench, daemon in
            // More than the buffers of both kernels take.
            let tokens = (0..<8_000).map { #""\#(token($0))""# }.joined(separator: ",")
            let text = String(repeating: "x", count: 1_900)
            try bench.drop("much.json", #"{"tokens":[\#(tokens)],"alert":"\#(text)"}"#)
            try await daemon.says("ETIMEDOUT")
            #expect(try await bench.end(of: "much.json").accepted == 8_000)
        }
    }

    /// The names of the pool's threads end with their quality of service. Its upkeep wakes an idle daemon every second.
    @Test func `a daemon that has worked has no thread of Swift's pool`() async throws {
        try await Modern().serving { bench, daemon in
            try bench.drop("a.json", job(tokens: 0..<300), app: "modern")
            #expect(try await bench.end(of: "a.json", app: "modern").accepted == 300)
            let threads = try daemon.threads
            #expect(threads.contains("reactor") && !threads.contains { $0.contains("qos") }, "\(threads)")
        }
    }

    @Test func `connections of the binary protocol are replaced for their age, too`() async throws {
        try await Bench.serving(try .init(app: "max_age: 1s\nrate: 100/s")) { bench, _ in
            try bench.drop("many.json", job(tokens: 0..<300))
            #expect(try await bench.end(of: "many.json").accepted == 300)
            let ledger = await bench.simulator.ledger
            #expect(ledger.acceptedTokens.count == 300 && ledger.connectionCount > 2, "\(ledger.connectionCount)")
        }
    }

    @Test(.catalogue("A6 term-drain, jobs under way", checks: [.onePlace, .nobodyLost, .fewDoubled]))
    func `a stop lets jobs under way finish and sends nothing twice`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let tokens = (0..<200).map { "\"\(token($0))\"" }.joined(separator: ",")
            for number in 0..<20 { try bench.drop("n\(number).json", #"{"tokens":[\#(tokens)],"alert":"\#(number)"}"#) }
            _ = try await bench.accepted(200)
            #expect(try await daemon.stop() == 0)
            #expect(bench.names(in: "weather/work/node-a").isEmpty)
            let ended = bench.jobs(in: "done").count
            #expect(ended + bench.names(in: "weather/new").count == 20)
            #expect(await bench.simulator.ledger.acceptedCount == ended * 200)
            #expect(daemon.log.contains("stopped"))
        }
    }

    @Test func `a job that somebody takes out of work holds up neither others nor the stop`() async throws {
        try await Bench.serving(try .init(app: "binary: {confirm_after: 3s}")) { bench, daemon in
            try bench.drop("taken.json", job(1))
            let entry = try await awaited("claim") { bench.names(in: "weather/work/node-a").first }
            try FileManager.default.removeItem(atPath: "\(bench.path)/spool/weather/work/node-a/\(entry)")
            try await daemon.says("job file is missing from work/")
            try bench.drop("other.json", job(2))
            #expect(try await bench.end(of: "other.json").accepted == 1)
        }
    }

    @Test func `a token in the wrong place is not logged`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("slip.yaml", "tokens: \(token(1))\nalert: Hi\n")
            #expect(try await bench.end(of: "slip.yaml").state == "failed")
            try await daemon.says("found the value")
            #expect(!daemon.log.contains(token(1).prefix(9)))
        }
    }

    @Test func `a second signal does not wait`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 1h}")) { bench in
            try await bench.withDaemon(drain: 3_600) { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1))
                _ = try await bench.accepted(1)
                daemon.send(SIGTERM)
                try await daemon.says("stopping")
                #expect(daemon.process.isRunning)
                daemon.send(SIGTERM)
                #expect(try await daemon.end() == 0)
                try await daemon.says("stay in work/")
                #expect(daemon.log.contains("app=weather jobs=1"), "\(daemon.log)")
                #expect(bench.names(in: "weather/work/node-a").count == 1)
            }
        }
    }

    @Test func `a stop does not wait longer than it may`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 1h}")) { bench in
            try await bench.withDaemon(drain: 1) { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1))
                _ = try await bench.accepted(1)
                daemon.send(SIGTERM)
                #expect(try await daemon.end() == 0)
            }
        }
    }

    @Test(.catalogue("E39 same-node-twice", checks: [])) func `a second daemon of the same node refuses to start`()
        async throws
    {
        try await Bench.serving(try .init()) { bench, _ in
            let second = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(second.code == 75)
            #expect(second.log.contains("another daemon uses") && second.log.contains("hint: stop it"))
            try bench.drop("still.json", job(1))
            _ = try await bench.end(of: "still.json")
        }
    }

    @Test func `a second daemon with another node name refuses to start, and names node and process`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let status = bench.path + "/spool/.pushspool/public/node-a/status.json"
            try await eventually("a status") { FileManager.default.fileExists(atPath: status) }
            for more in ["", "cluster: true\n"] {
                try bench.write("etc/other.yaml", "spool: ../spool\nstate: ../other\nnode: node-b\n" + more)
                let second = try await bench.run(["run", "--config", "\(bench.path)/etc/other.yaml"])
                #expect(second.code == 75)
                #expect(
                    second.log.contains("as node 'node-a', process \(daemon.process.processIdentifier)"),
                    "\(second.log)")
                #expect(second.log.contains("hint: stop it") && second.log.contains("cluster: true"), "\(second.log)")
            }
            try bench.drop("still.json", job(1))
            _ = try await bench.end(of: "still.json")
        }
    }

    @Test func `a second daemon does not start with the state folder of the first`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.write("etc/other.yaml", "spool: ../etc\nstate: ../state\nnode: node-b\n")
            let second = try await bench.run(["run", "--config", "\(bench.path)/etc/other.yaml"])
            #expect(second.code == 75 && second.log.contains("another daemon uses the state folder"), "\(second)")
            #expect(second.log.contains("hint: stop that daemon, or set `state` to a different folder"), "\(second)")
        }
    }

    @Test func `a broken daemon's file ends the start with 78 and the line`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("etc/pushspool.yaml", "spool: ../spool\nstate: ../state\nintake: {setle: 1s}\n")
            let end = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78)
            #expect(end.log.contains("pushspool.yaml:3:10: error: ") && end.log.contains("settle"))
        }
    }

    @Test func `an app whose file is broken waits, the others send`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("broken", "bogus: 1")
            try await bench.withDaemon { daemon in
                try await daemon.says("broken.yaml:")
                try await daemon.says("app started")
                try bench.drop("w.json", job(1))
                #expect(try await bench.end(of: "w.json").accepted == 1)
                #expect(bench.names(in: "broken").isEmpty)
                try bench.configureApp("broken")
                try await daemon.says("app started", times: 2)
                try bench.drop("b.json", job(2), app: "broken")
                #expect(try await bench.end(of: "b.json", app: "broken").accepted == 1)
            }
        }
    }

    @Test func `a file that breaks while the daemon runs leaves what was in force`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.write("etc/apps/weather.yaml", "protocol: binary\n")
            daemon.send(SIGHUP)
            try await daemon.says("weather.yaml:")
            try bench.drop("still.json", job(1))
            #expect(try await bench.end(of: "still.json").accepted == 1)
            try bench.write("etc/pushspool.yaml", "bogus: 1\n")
            daemon.send(SIGHUP)
            try await daemon.says("configuration is invalid and was not applied")
            try bench.drop("too.json", job(2))
            #expect(try await bench.end(of: "too.json").accepted == 1)
        }
    }

    @Test func `signals that mean nothing end nothing, and are told`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            for (signal, name) in [(SIGUSR1, "USR1"), (SIGUSR2, "USR2")] {
                daemon.send(signal)
                try await daemon.says("TERM to stop the daemon\" signal=\(name)")
            }
            try bench.drop("still.json", job(1))
            #expect(try await bench.end(of: "still.json").accepted == 1)
        }
    }

    @Test func `a directory without configuration is left alone, with one warning`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let new = bench.path + "/spool/stray/new"
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
            try bench.write("spool/stray/new/s.json", job(9))
            try await daemon.says("app is not configured")
            for number in 1...3 {
                try bench.drop("n\(number).json", job(number))
                _ = try await bench.end(of: "n\(number).json")
            }
            #expect(daemon.log.components(separatedBy: "app is not configured").count == 2)
            #expect(bench.names(in: "stray") == ["new"] && bench.names(in: "stray/new") == ["s.json"])
            try bench.configureApp("stray")
            daemon.send(SIGHUP)
            #expect(try await bench.end(of: "s.json", app: "stray").accepted == 1)
        }
    }

    @Test func `an app's directory that is removed is made again and works`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("before.json", job(1))
            _ = try await bench.end(of: "before.json")
            // The daemon may be quicker than a removal file by file.
            let (old, gone) = (bench.path + "/spool/weather", bench.path + "/staged/gone")
            try FileManager.default.moveItem(atPath: old, toPath: gone)
            try await bench.tool("rm", "-rf", gone)
            try await daemon.says("app started", times: 2)
            try bench.drop("after.json", job(2))
            #expect(try await bench.end(of: "after.json").accepted == 1)
        }
    }

    @Test func `an app whose configuration is removed sends nothing more, until it is back`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("before.json", job(1))
            _ = try await bench.end(of: "before.json")
            try FileManager.default.removeItem(atPath: bench.path + "/etc/apps/weather.yaml")
            daemon.send(SIGHUP)
            try await daemon.says("app is not configured")
            try bench.drop("waits.json", job(2))
            try bench.configureApp("other")
            try await daemon.says("app started", times: 2)
            try bench.drop("o.json", job(3), app: "other")
            _ = try await bench.end(of: "o.json", app: "other")
            #expect(bench.names(in: "weather/new") == ["waits.json"])
            try bench.configureApp("weather")
            #expect(try await bench.end(of: "waits.json").accepted == 1)
        }
    }

    @Test func `an app that is removed ends although its gateway is silent, as soon as the connection is lost`()
        async throws
    {
        try await Bench.serving(try .init(app: "binary: {confirm_after: 1h}")) { bench, daemon in
            try bench.drop("waits.json", job(1))
            _ = try await bench.accepted(1)
            try FileManager.default.removeItem(atPath: bench.path + "/etc/apps/weather.yaml")
            daemon.send(SIGHUP)
            try await daemon.says("app removed from the configuration")
            await bench.simulator.dropConnections(resetting: true)
            try await daemon.says("connection ended")
            try bench.configureApp("weather")
            daemon.send(SIGHUP)
            try await daemon.says("job resumed")
            #expect(try await bench.end(of: "waits.json").accepted == 1)
        }
    }

    @Test func `an app whose gateway does not read delays no other`() async throws {
        try await Bench.serving(try .init(script: "token=\(token(66)) stall")) { bench, daemon in
            try bench.configureApp("slow", "binary: {confirm_after: 1h}")
            daemon.send(SIGHUP)
            try await daemon.says("app started", times: 2)
            for number in 0..<300 { try bench.drop("s\(number).json", job(66), app: "slow") }
            try await eventually("the slow one is full") { bench.names(in: "slow/work/node-a").count >= 200 }
            for number in 0..<20 { try bench.drop("w\(number).json", job(number)) }
            try await eventually("the other is done") { bench.jobs(in: "done").count == 20 }
            #expect(bench.jobs(in: "done", app: "slow").isEmpty)
            daemon.send(SIGTERM)
            try await daemon.says("stopping")
            daemon.send(SIGTERM)
        }
    }

    @Test func `a new certificate is used by the next connection`() async throws {
        try await Bench.running(try .init(app: "server_name: localhost")) { bench in
            let authority = try CertificateAuthority()
            let server = try authority.issue(.server(["localhost"]))
            let certificates = Certificates(
                authority: try authority.certificatePEM(), server: try server.certificatePEM() + server.keyPEM())
            var configuration = Simulator.Configuration()
            configuration.certificates = certificates
            try await Simulator.running(configuration) { gateway in
                try bench.write("certificates/other.pem", String(decoding: certificates.authority, as: UTF8.self))
                try bench.swap(to: try authority.issue(.push(topic: "com.example.one")), at: gateway.ports.gateway)
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    try bench.drop("one.json", job(1))
                    _ = try await bench.end(of: "one.json")
                    try bench.swap(to: try authority.issue(.push(topic: "com.example.two")), at: gateway.ports.gateway)
                    daemon.send(SIGHUP)
                    try await daemon.says("app reconfigured")
                    try bench.drop("two.json", job(2))
                    _ = try await bench.end(of: "two.json")
                    #expect(
                        await gateway.ledger.connections.compactMap(\.topics.first) == [
                            "com.example.one", "com.example.two",
                        ])
                    #expect(await gateway.ledger.duplicates.isEmpty)
                }
            }
        }
    }

    @Test func `another authority is believed as soon as its file has changed`() async throws {
        try await Bench.running(try .init(app: "timeouts: {connect: 1s}")) { bench in
            let right = try String(contentsOfFile: bench.path + "/certificates/ca.pem", encoding: .utf8)
            let wrong = String(decoding: try CertificateAuthority().certificatePEM(), as: UTF8.self)
            try bench.write("certificates/ca.pem", wrong)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1))
                try await daemon.says("connection ended")
                try bench.write("certificates/ca.pem", right)
                daemon.send(SIGHUP)
                try await daemon.says("app reconfigured")
                #expect(try await bench.end(of: "waits.json").accepted == 1)
            }
        }
    }

    @Test(.catalogue("D34 new-app-race, new folders", checks: [.nobodyLost, .fewDoubled]))
    func `new apps with jobs in them are seen, however fast they appear`() async throws {
        // Each is guaranteed 24 descriptors, and a daemon refuses those for which there are too few.
        let count = isFullRun ? min(1000, (try OpenFileLimit.most() - 100) / 24 - 1) : 20
        try await Bench.serving(try .init()) { bench, _ in
            for number in 0..<count {
                let folder = bench.path + "/spool/app\(number)/new"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try bench.write("spool/app\(number)/new/j.json", job(number))
                try bench.configureApp("app\(number)")
            }
            try await eventually("all accepted") {
                await bench.simulator.ledger.acceptedCount >= count
            }
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }

    @Test func `more apps than the soft limit of open files allows are served`() async throws {
        try await Bench.running(try .init()) { bench in
            for number in 0..<20 {
                let new = bench.path + "/spool/app\(number)/new"
                try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
                try bench.write("spool/app\(number)/new/j.json", job(number))
                try bench.configureApp("app\(number)")
            }
            let limited = ["-c", #"ulimit -S -n 64 && exec "$0" "$@""#, try BuiltProgram.path]
            let run = ["run", "--config", "\(bench.path)/etc/pushspool.yaml"]
            let daemon = try Program("/bin/sh", limited + run, logs: bench.path + "/logs")
            try await bench.watching(daemon) { _ in _ = try await bench.accepted(20) }
        }
    }

    @Test(.catalogue("D34 new-app-race, a full folder", checks: [.onePlace, .nobodyLost, .fewDoubled]))
    func `a full directory that takes an app's place is worked off`() async throws {
        let count = isFullRun ? 1000 : 20
        // Each round waits for a confirmation.
        try await Bench.serving(try .init(app: "binary: {confirm_after: 100ms}")) { bench, _ in
            for number in 0..<count {
                let full = bench.path + "/staged/weather"
                try FileManager.default.createDirectory(atPath: full + "/new", withIntermediateDirectories: true)
                try bench.write("staged/weather/new/j\(number).json", job(number))
                try bench.folder.exchange("staged/weather", "spool/weather")
                _ = try await bench.accepted(number + 1)
                try await eventually("archived") { bench.jobs(in: "done").count == 1 }
                // Its runner has ended: else the next would not have started.
                try FileManager.default.removeItem(atPath: full)
            }
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }

    @Test(.catalogue("D35 start-race", checks: [.onePlace, .nobodyLost, .fewDoubled, .toldFirst]))
    func `no start and no stop loses or doubles a job while producers go on`() async throws {
        // A round starts, confirms and drains for almost half a second: a thousand would take seven minutes.
        let rounds = isFullRun ? 200 : 5
        try await Bench.running(try .init(app: "binary: {confirm_after: 100ms}")) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            var number = 0
            for _ in 0..<rounds {
                try await bench.withDaemon { daemon in
                    let (target, told) = (number + 40, bench.names(in: "weather/feedback").count)
                    while number < target {
                        try bench.drop("n\(number).json", job(number))
                        number += 1
                        guard number % 10 == 0 else { continue }
                        try await eventually("some") { bench.names(in: "weather/feedback").count > told }
                    }
                    daemon.send(SIGTERM)
                    while daemon.process.isRunning, number < target + 20 {
                        try bench.drop("n\(number).json", job(number))
                        number += 1
                        await Task.yield()
                    }
                    #expect(try await daemon.end() == 0)
                    #expect(bench.names(in: "weather/work/node-a").isEmpty)
                }
            }
            let total = number
            try await bench.withDaemon { _ in
                try await eventually("all done") {
                    bench.jobs(in: "done").count == total
                }
            }
            let ledger = try await bench.accepted(total)
            #expect(ledger.acceptedCount == total && ledger.duplicates.isEmpty)
            #expect(Set(try bench.lines("job").compactMap(\.job)).count == total)
        }
    }
}

extension Bench {
    /// Gives the app another certificate and another gateway.
    fileprivate func swap(to identity: IssuedIdentity, at port: Int) throws {
        let pem = String(decoding: try identity.certificatePEM() + identity.keyPEM(), as: UTF8.self)
        let file = "\(path)/certificates/swapped.pem"
        try Data(pem.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try configureApp(
            "weather", "gateway: localhost:\(port)\ntrust: \(path)/certificates/other.pem",
            credentials: "credentials: {certificate: \(file)}")
    }
}
