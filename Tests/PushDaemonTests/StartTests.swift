import Foundation
import Glibc
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
            #expect(end.log.contains("is open to others (mode 0750)") && end.log.contains("hint: chmod 700 "), "\(end)")
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
            #expect(end.code == 78 && end.log.contains("belongs to user 65534"), "\(end)")
        }
    }

    @Test func `a folder of provider tokens that cannot be made is named, with the remedy`() async throws {
        try await Bench.running(try .init()) { bench in
            let state = bench.path + "/state"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try bench.write("state/tokens", "")
            let end = try await bench.run(["run", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78)
            #expect(end.log.contains("provider tokens cannot be used: ") && end.log.contains("ENOTDIR"), "\(end)")
            #expect(
                end.log.contains("hint: move away what is in the place of ") && end.log.contains("/state/tokens;"),
                "\(end)")
        }
    }

    @Test func `a change of the daemon's own file is told once, with its keys`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let file = "etc/pushspool.yaml"
            let text = try String(contentsOfFile: "\(bench.path)/\(file)", encoding: .utf8)
            try bench.write(file, text.replacing("debug", with: "info").replacing("every: 20ms", with: "every: 30ms"))
            for round in 1...2 {
                daemon.send(SIGHUP)
                try await daemon.says("configuration read", times: round)
            }
            try await daemon.says(#"keys="feedback.every log.level""#)
            try bench.write(file, text.replacing("debug", with: "info"))
            try await daemon.says("keys=log.level")
            #expect(daemon.log.contains("restart the daemon"))
            #expect(daemon.log.components(separatedBy: "changed keys are not used yet").count == 3)
            try bench.drop("still.json", job(1))
            _ = try await bench.end(of: "still.json")
        }
    }

    @Test func `files that are to be compared with nothing are refused`() async throws {
        try await Bench.running(try .init()) { bench in
            let intake = "intake: {dedupe: 0, dedupe_content: true}"
            try bench.write("etc/pushspool.yaml", "spool: ../spool\nstate: ../state\n\(intake)\n")
            let end = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78 && end.log.contains("intake.dedupe_content: compares with nothing"), "\(end)")
            #expect(end.log.contains("give intake.dedupe a time"), "\(end)")
        }
    }
}

extension Bench {
    fileprivate func mode(of folder: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: "\(path)/\(folder)")[.posixPermissions] as? Int
    }
}
