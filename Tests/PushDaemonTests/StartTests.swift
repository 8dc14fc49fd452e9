import Foundation
import Glibc
import TestSupport
import Testing

/// What a daemon insists on before it starts, and what it takes up while it runs.
@Suite struct StartTests {
    @Test func `the state folder is made for the daemon alone`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let modes = try ["state", "spool/.pushspool/node-a"].map { try bench.mode(of: $0) }
            #expect(modes == [0o700, 0o700])
        }
    }

    @Test(arguments: ["state", "spool/.pushspool/node-a"])
    func `a private folder that others may enter is refused, with the remedy`(folder: String) async throws {
        try await Bench.running(try .init()) { bench in
            let path = bench.path + "/" + folder
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: path)
            let end = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78)
            #expect(
                end.log.contains("is accessible to other users (mode 0750)") && end.log.contains("hint: chmod 700 "),
                "\(end)")
            #expect(bench.names(in: "weather").isEmpty)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func `a private folder of somebody else is refused`() async throws {
        try await Bench.running(try .init()) { bench in
            let state = bench.path + "/state"
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700, .ownerAccountID: 65_534]
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
            try FileManager.default.setAttributes(attributes, ofItemAtPath: state)
            let end = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78 && end.log.contains("(65534), but the daemon runs as user root (0)"), "\(end)")
        }
    }

    @Test func `a folder of tokens that cannot be made is named, with the remedy`() async throws {
        try await Bench.running(try .init()) { bench in
            let state = bench.path + "/state"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try bench.write("state/tokens", "")
            let end = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78)
            #expect(end.log.contains("the folder for tokens cannot be used: ") && end.log.contains("ENOTDIR"), "\(end)")
            #expect(
                end.log.contains("hint: move ") && end.log.contains("/state/tokens away;"),
                "\(end)")
        }
    }

    @Test func `a change of the daemon's own file is told once, with its keys`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let file = "etc/pushspool.yaml"
            let text = try String(contentsOfFile: "\(bench.path)/\(file)", encoding: .utf8)
            let changed = text.replacing("rescan: 1s", with: "rescan: 2s")
            try bench.write(file, changed.replacing("every: 20ms", with: "every: 30ms"))
            for round in 1...2 {
                daemon.send(SIGHUP)
                try await daemon.says("configuration loaded", times: round)
            }
            try await daemon.says(#"keys="intake.rescan feedback.every""#)
            try bench.write(file, changed)
            try await daemon.says("keys=intake.rescan")
            #expect(daemon.log.contains("restart the daemon"))
            #expect(daemon.log.components(separatedBy: "changed configuration keys need a restart").count == 3)
            try bench.drop("still.json", job(1))
            _ = try await bench.end(of: "still.json")
        }
    }

    @Test(arguments: ["spool", "state"])
    func `a folder whose filesystem may not be mounted yet is tried again, not given up`(key: String) async throws {
        try await Bench.running(try .init()) { bench in
            let text = try String(contentsOfFile: "\(bench.path)/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", text.replacing("\(key): ../", with: "\(key): ../mnt/"))
            let end = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 75 && end.log.contains("ENOENT"), "\(end)")
            #expect(end.log.contains("hint: create it, or mount its filesystem"), "\(end)")
        }
    }

    @Test func `another log level is used at once`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let file = "etc/pushspool.yaml"
            let text = try String(contentsOfFile: "\(bench.path)/\(file)", encoding: .utf8)
            try bench.write(file, text.replacing("level: debug", with: "level: error"))
            var count = 0
            try await eventually("silence") {
                count += 1
                try bench.drop("quiet\(count).json", job(1))
                _ = try await bench.end(of: "quiet\(count).json")
                // That of the one before would be there by now.
                return count > 1 && !daemon.log.contains("job=quiet\(count - 1).json")
            }
            #expect(!daemon.log.contains("changed configuration keys need a restart"))
            try bench.write(file, text)
            try await daemon.says("configuration loaded")
        }
    }

    @Test func `files that are to be compared with nothing are refused`() async throws {
        try await Bench.running(try .init()) { bench in
            let intake = "intake: {dedupe: 0, dedupe_content: true}"
            try bench.write("etc/pushspool.yaml", "spool: ../spool\nstate: ../state\n\(intake)\n")
            let end = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78 && end.log.contains("intake.dedupe_content: needs intake.dedupe"), "\(end)")
            #expect(end.log.contains("set intake.dedupe to a duration"), "\(end)")
        }
    }
}

extension Bench {
    fileprivate func mode(of folder: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: "\(path)/\(folder)")[.posixPermissions] as? Int
    }
}
