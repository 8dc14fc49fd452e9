import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// A daemon as a user of its own, an honest producer, and one that tries what it may not: three users.
@Suite(.serialized) struct TrespassTests {
    /// The users, and the group of the producers.
    private static let (daemon, honest, hostile, producers) = (40_001, 40_002, 40_003, 40_010) as (Int, Int, Int, Int)

    /// A command as one of the users; the daemon is in the producers' group, since their files are its to read.
    private static func `as`(_ user: Int, _ command: [String]) -> [String] {
        ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--groups=\(producers)"] + command
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be several users"), .needs("setpriv", "python3"))
    func `a producer gets at nothing that is not its own, and harms no other`() async throws {
        try await Bench.running { bench in
            try FileManager.default.removeItem(atPath: bench.spool + "/weather/new")
            // A job that only the daemon could read: who has it sent has had a link followed.
            let stolen = String(repeating: "ee", count: 32)
            try bench.write("secret.json", #"{"token":"\#(stolen)","alert":"stolen"}"#)
            try await bench.give(to: Self.daemon)
            let daemon = try Child(Self.as(Self.daemon, try bench.command()), logs: bench.home + "/logs")
            try await daemon.says("app started")
            for folder in ["new", "tmp"] {
                try await tool(
                    ["chgrp", "\(Self.producers)", bench.spool + "/weather/" + folder], logs: bench.home + "/logs")
                let mode = try FileManager.default.attributesOfItem(atPath: bench.spool + "/weather/" + folder)
                #expect((mode[.posixPermissions] as? Int) == 0o3770, "\(folder)")
            }
            let trespasser = try Child(
                Self.as(
                    Self.hostile,
                    [
                        "/usr/bin/python3", "-c", Trespasser.program, bench.spool + "/weather", bench.spool,
                        bench.home + "/state",
                        bench.home + "/secret.json", bench.home + "/certificates/client.pem",
                        "\(trials(300, full: 1200))",
                        "\(seed)",
                    ]), logs: bench.home + "/logs")
            var number = 0
            while trespasser.process.isRunning {
                number += 1
                try bench.drop(Drop(number: number, count: 2), owner: (Self.honest, Self.producers))
                try await moment(.milliseconds(20))
            }
            let tried = trespasser.log
            #expect(!tried.contains("ALLOWED") && !tried.contains("its own") && tried.contains("tried "), "\(tried)")
            try await bench.settle(daemon)
            #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            try await bench.judgeTrespass(stolen: stolen, tried: tried)
        }
    }
}

extension Bench {
    /// Gives everything to a user, as whom a daemon may then run.
    fileprivate func give(to user: Int) async throws {
        try await tool(["chown", "-R", "\(user):\(user)", home], logs: home + "/logs")
        try await tool(["chmod", "755", home], logs: home + "/logs")
        for name in ["secret.json", "certificates/client.pem"] {
            try await tool(["chmod", "600", "\(home)/\(name)"], logs: home + "/logs")
        }
        // For what the test stages as another.
        try await tool(["chmod", "777", seenGround + "/staged"], logs: home + "/logs")
    }

    /// Drops a job as a producer does whose files its group may read.
    fileprivate func drop(_ drop: Drop, owner: (user: Int, group: Int)) throws {
        let path = "\(seenGround)/staged/\(drop.name)"
        try Data(drop.text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes(
            [.ownerAccountID: owner.user, .groupOwnerAccountID: owner.group, .posixPermissions: 0o640],
            ofItemAtPath: path)
        drops.append(drop)
        try FileManager.default.moveItem(atPath: path, toPath: "\(spool)/weather/new/\(drop.name)")
    }

    /// Waits until the honest producer's jobs are over, and none of anybody's is under way: on a busy machine
    /// they are behind thousands of the other's.
    fileprivate func settle(_ daemon: Child) async throws {
        let names = Set(drops.all.map(\.name))
        let waiting = { self.names(in: "weather/new").count }
        try await eventually("\(waiting()) jobs wait\n\(daemon.log.suffix(2000))") {
            let done = Set(archived("weather").compactMap { $0.split(separator: "/").last.map(String.init) })
            return names.isSubset(of: done) && claimed("weather").isEmpty
        }
    }

    fileprivate func judgeTrespass(stolen: String, tried: String) async throws {
        let entries = try await entries().filter { $0.outcome == .accepted }.map(\.tokenText)
        var counts: [String: Int] = [:]
        for token in entries { counts[token, default: 0] += 1 }
        for drop in drops.all {
            for recipient in drop.recipients { #expect(counts[recipient.token] == 1, "\(recipient)") }
        }
        #expect(counts[stolen] == nil, "a link was followed")
        let strangers = counts.keys.filter { !$0.hasPrefix("cd") && !$0.hasPrefix("ab") }
        #expect(strangers.isEmpty, "\(strangers)")
        let secret = try String(contentsOfFile: home + "/secret.json", encoding: .utf8)
        #expect(secret.contains(stolen), "the daemon's own file is as it was")
        let tries = tried.split(separator: "\n").last ?? ""
        report("G55 two users: \(drops.count) honest jobs, \(entries.count) accepted, \(tries); seed \(seed), \(age) s")
    }
}
