import ArgumentParser
import CommandProgram
import PushDaemon
import ServiceProcess
import Testing

@testable import Configuration
@testable import pushspool

/// The files of etc/ that a service manager reads, against the program.
struct ServiceTests {
    private func values(of key: String, in unit: String = "pushspool") throws -> [String] {
        try Manual.text("etc/systemd/\(unit).service").split(separator: "\n").filter { $0.hasPrefix(key + "=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }

    @Test func `the unit starts the daemon, with a command that the program knows`() throws {
        let words = try #require(try values(of: "ExecStart").first).split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/pushspool")
        #expect(try Pushspool.parseAsRoot(Array(words.dropFirst())) is Run)
    }

    @Test func `the unit gives up only where somebody has to change something`() throws {
        let codes = try values(of: "RestartPreventExitStatus").flatMap { $0.split(separator: " ") }
        #expect(
            Set(codes.compactMap { Int32($0) }) == [
                ExitCode.badConfiguration.rawValue, ExitCode.validationFailure.rawValue,
            ])
    }

    @Test func `the unit lets the daemon write where it writes by default, and tmpfiles makes that`() throws {
        let daemon = DaemonConfiguration()
        #expect(try values(of: "ReadWritePaths") == ["-" + daemon.spool])
        #expect(try values(of: "StateDirectory").map { "/var/lib/" + $0 } == [daemon.state])
        let folders = try Manual.text("etc/systemd/pushspool.tmpfiles")
        #expect(folders.contains("\nd \(daemon.spool) 0755 pushspool pushspool -\n"))
        #expect(folders.contains("\nd \(daemon.state) 0700 pushspool pushspool -\n"))
    }

    @Test func `the doors' unit starts them, and lets them write where they write by default`() throws {
        #expect(try values(of: "ExecStart", in: "pushspool-door") == ["/usr/bin/pushspool-door run"])
        let doors = DoorConfiguration()
        #expect(try values(of: "ReadWritePaths", in: "pushspool-door") == ["-" + doors.spool])
        #expect(try values(of: "StateDirectory", in: "pushspool-door").map { "/var/lib/" + $0 } == [doors.state])
        #expect(try values(of: "User", in: "pushspool-door") == ["pushspool-door"])
        #expect(try Manual.text("etc/systemd/pushspool.sysusers").contains("\nu pushspool-door - "))
    }

    @Test func `the bridge's unit starts it, lets it write into the default spool, and stops with the daemon`() throws {
        #expect(try values(of: "ExecStart", in: "pushspool-pg") == ["/usr/bin/pushspool-pg run $OPTIONS"])
        #expect(try values(of: "ReadWritePaths", in: "pushspool-pg") == ["-" + DaemonConfiguration().spool])
        #expect(try values(of: "User", in: "pushspool-pg") == ["pushspool-pg"])
        #expect(try values(of: "PartOf", in: "pushspool-pg") == ["pushspool.service"])
        #expect(try Manual.text("etc/systemd/pushspool.sysusers").contains("\nu pushspool-pg - "))
    }

    @Test func `a stop is told to the daemon alone, which ends its hooks itself`() throws {
        #expect(try values(of: "KillMode") == ["mixed"])
    }

    @Test func `whoever a socket of the daemon is for comes through the folder that it is in`() throws {
        #expect(try values(of: "RuntimeDirectory") == ["pushspool"])
        #expect(try values(of: "RuntimeDirectoryMode") == ["0755"])
    }

    @Test func `the unit has the one capability that leases take`() throws {
        #expect(try values(of: "CapabilityBoundingSet") == ["CAP_LEASE"])
        #expect(try values(of: "AmbientCapabilities") == ["CAP_LEASE"])
    }

    @Test func `the version is the one that the packaging finds`() throws {
        let text = try Manual.text("Sources/ServiceProcess/Version.swift")
        let found = text.matches(of: #/static let current = "(\d+\.\d+\.\d+)"/#).map { String($0.output.1) }
        #expect(found == [Version.current] && Pushspool.configuration.version == Version.current)
    }

    @Test func `a release is at the head of Changes, and every example names it`() throws {
        let articles = "Sources/PushDaemon/Documentation.docc"
        let changes = try Manual.text("\(articles)/Changes.md")
        #expect(changes.firstMatch(of: #/\n## (\d+\.\d+\.\d+), \d{4}-\d\d-\d\d\n/#)?.output.1 == Version.current[...])
        let examples = [
            "README.md", "etc/container/compose.yaml", "etc/container/kubernetes.yaml", "\(articles)/Operations.md",
            "\(articles)/Containers.md",
        ]
        for example in examples {
            // A way back names the release before.
            let lines = try Manual.text(example).split(separator: "\n").filter { !$0.contains("--allow-downgrades") }
            let named = lines.flatMap { $0.matches(of: #/(?:pushspool[:_]|Version )(\d+\.\d+\.\d+)/#).map(\.output.1) }
            #expect(!named.isEmpty && named.allSatisfy { $0 == Version.current }, "\(example): \(named)")
        }
    }
}
