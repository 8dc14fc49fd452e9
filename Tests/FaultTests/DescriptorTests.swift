import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Daemons that may have few files open.
@Suite(.serialized) struct DescriptorTests {
    /// Limits and numbers of apps.
    private static let sets = [(64, 1), (90, 20), (128, 1), (128, 3), (640, 24)]
    private static let moreSets = [(8, 1), (24, 1), (256, 6), (300, 20), (640, 20)]

    @Test(arguments: isFullRun ? sets + moreSets : sets)
    func `a daemon refuses to start with the figure, or serves every app`(limit: Int, apps: Int) async throws {
        try await Bench.running(.apps(apps)) { bench in
            for round in 0..<trials(1, full: 10) { try bench.dropLong(from: round * 100, for: apps, each: 3) }
            let daemon = try bench.start(limit: limit)
            if limit < DescriptorNeed.of(apps) {
                #expect(try await daemon.end() == 78)
                report("J74 few-descriptors: \(limit) for \(apps) apps: refused")
                #expect(daemon.log.contains("(RLIMIT_NOFILE) is \(limit),") && daemon.log.contains("LimitNOFILE"))
            } else {
                // Together they may take longer than one wait.
                for count in stride(from: 50, to: bench.drops.count, by: 50) {
                    try await eventually("\(count) jobs ended: \(daemon.log.suffix(2000))") {
                        bench.endedCount >= count
                    }
                }
                try await eventually("all done: \(daemon.log.suffix(2000))") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
                report("J74 few-descriptors: \(limit) for \(apps) apps: all served; \(bench.age) s")
                #expect(!daemon.log.contains("EMFILE"))
            }
        }
    }

    @Test func `an app that reads as much as it can holds up no other at the least limit`() async throws {
        try await Bench.running(.apps(2, script: "every=1 answer delay=200ms")) { bench in
            // All even numbers are the first app's.
            for number in 0..<60 { try bench.drop(Drop(number: number * 2, count: 1_500, isInLines: true)) }
            let daemon = try bench.start(limit: DescriptorNeed.of(2) + 2)
            try await daemon.says("app started")
            try bench.drop(Drop(number: 1, count: 3))
            try await eventually("the other's job: \(daemon.log.suffix(2000))") { !bench.archived("app1").isEmpty }
            #expect(bench.archived("app0").isEmpty, "the first app has ended as well: nothing is seen")
            try await daemon.destroy()
            #expect(!daemon.log.contains("EMFILE"))
        }
    }

    @Test func `an app too many at a reload does not start, says why, and others go on`() async throws {
        try await Bench.running(.apps(2)) { bench in
            let daemon = try bench.start(limit: DescriptorNeed.of(2) + 2)
            try await daemon.says("app started")
            try bench.configureApp("late")
            try await daemon.says("app cannot start")
            try await eventually("the status has the reason") {
                try await bench.status().contains("late cannot start: the limit on open files")
            }
            try bench.dropLong(from: 0, for: 2, each: 2)
            try await eventually("all done") { try bench.isIdle() }
            try FileManager.default.removeItem(atPath: "\(bench.home)/etc/apps/app0.yaml")
            try await daemon.says("app started app=late")
            #expect(try await daemon.stop() == 0)
        }
    }

    @Test
    func `an app that waits for descriptors that another has borrowed says so once, and starts when they are back`()
        async throws
    {
        try await Bench.running(.apps(1)) { bench in
            let file = try bench.cutOff("app0")
            let daemon = try bench.start(limit: DescriptorNeed.of(2))
            try await daemon.says("app started")
            for number in 0..<20 { try bench.drop(Drop(number: number, count: 3_000, isInLines: true)) }
            try await eventually("all are open") { bench.claimed("app0").count == 20 }
            try bench.configureApp("late")
            let waits = "other apps use some of the 24 that this app needs"
            try await daemon.says(waits)
            try await eventually("the status has the reason") {
                try await bench.status().contains("late cannot start: ")
            }
            #expect(try await bench.status().contains(waits) && daemon.log.contains("LimitNOFILE"))
            #expect(!daemon.log.contains("app started app=late"))
            try bench.write("etc/apps/app0.yaml", file)
            try await daemon.says("app started app=late")
            #expect(daemon.log.components(separatedBy: waits).count <= 3, "told once for each configuration")
            try await eventually("no reason") { try await !bench.status().contains(waits) }
            try await daemon.destroy()
        }
    }

    @Test func `an app that never started and is configured no more gives its descriptors back`() async throws {
        try await Bench.running(.apps(1)) { bench in
            let daemon = try bench.start(limit: DescriptorNeed.of(2))
            try await daemon.says("app started")
            // What is there is no folder.
            try Data().write(to: URL(fileURLWithPath: "\(bench.spool)/broken"))
            try bench.configureApp("broken")
            try await daemon.says("app cannot start")
            try FileManager.default.removeItem(atPath: "\(bench.home)/etc/apps/broken.yaml")
            try await eventually("that is read") {
                daemon.log.components(separatedBy: "configuration loaded").count == 3
            }
            try bench.configureApp("late")
            try await daemon.says("app started app=late")
            #expect(try await daemon.stop() == 0)
        }
    }

    @Test func `connections that nobody reads take no descriptor of an app`() async throws {
        try await Bench.running(.apps(1, daemon: "metrics: {listen: \"127.0.0.1:\(Self.port)\"}")) { bench in
            let daemon = try bench.start(limit: DescriptorNeed.of(1) + 12)
            try await daemon.says("listening for metrics requests")
            let crowd = try bench.crowd(200, port: Self.port)
            try await crowd.says("all there")
            try bench.dropLong(from: 0, for: 1, each: 6)
            try await eventually("all done: \(daemon.log.suffix(2000))") { try bench.isIdle() }
            try await crowd.destroy()
            #expect(try await daemon.stop() == 0)
            #expect(!daemon.log.contains("EMFILE"))
        }
    }

    private static let port = Int.random(in: 20_000..<30_000)
}

/// What the manual says a daemon needs.
private enum DescriptorNeed {
    /// With so many apps; 3 more are for what a test may leave open in the processes that it starts.
    static func of(_ apps: Int) -> Int { 67 + 24 * apps + 3 }
}

extension Bench.Setup {
    /// So many apps, `app0` and on.
    fileprivate static func apps(_ count: Int, script: String = "", daemon: String = "") -> Self {
        Self(script: script, apps: (0..<count).map { "app\($0)" }, daemon: daemon)
    }
}

extension Bench {
    /// Starts a daemon that may have so many files open.
    fileprivate func start(limit: Int) throws -> Child {
        try Child(["prlimit", "--nofile=\(limit):\(limit)"] + (try command()), logs: home + "/logs")
    }

    /// Drops jobs for each app whose files stay open while they are sent.
    fileprivate func dropLong(from number: Int, for apps: Int, each count: Int) throws {
        for number in number..<number + apps * count {
            try drop(Drop(number: number, count: 1_200, isInLines: true))
        }
    }

    /// Sends an app to a gateway where nothing listens.
    ///
    /// - Returns: Its file as it was.
    fileprivate func cutOff(_ app: String) throws -> String {
        let file = try String(contentsOfFile: "\(home)/etc/apps/\(app).yaml", encoding: .utf8)
        let lines = file.split(separator: "\n").map { $0.hasPrefix("gateway:") ? "gateway: localhost:1" : $0 }
        try write("etc/apps/\(app).yaml", lines.joined(separator: "\n") + "\n")
        return file
    }

    /// Configures another app as the first one is.
    fileprivate func configureApp(_ name: String) throws {
        let apps = "\(home)/etc/apps"
        try FileManager.default.copyItem(atPath: "\(apps)/app0.yaml", toPath: "\(home)/\(name).yaml")
        try FileManager.default.moveItem(atPath: "\(home)/\(name).yaml", toPath: "\(apps)/\(name).yaml")
    }

    /// What `pushspool status` prints.
    fileprivate func status() async throws -> String {
        try await tool([BuiltProgram.path, "status", "--config", "\(home)/etc/pushspool.yaml"], logs: home + "/logs")
    }

    /// Opens connections to the daemon's doors on which nothing is ever said.
    fileprivate func crowd(_ count: Int, port: Int) throws -> Child {
        let script = """
            import socket, time
            crowd = []
            for number in range(\(count)):
                for family, place in ((socket.AF_UNIX, "\(home)/run/node-a.sock"), (socket.AF_INET, ("127.0.0.1", \(port)))):
                    peer = socket.socket(family)
                    peer.setblocking(False)
                    peer.connect_ex(place)
                    crowd.append(peer)
            print("all there", flush=True)
            time.sleep(600)
            """
        return try Child(["python3", "-c", script], logs: home + "/logs")
    }
}
