import Foundation
import Glibc
import TestSupport
import Testing

/// The commands of `pushspool-door` that open nothing.
@Suite struct DoorCommandTests {
    private static let doors = """
        http: {listen: "127.0.0.1:0"}
        xmlrpc: {listen: "127.0.0.1:0"}
        zeromq: {bind: "tcp://127.0.0.1:0", app: modern}
        """

    /// Runs a command to its end.
    private func run(_ command: String, _ way: Doorway, _ more: String = "") async throws -> Program {
        let line = "exec \(try BuiltProgram.doorPath) \(command) --config \(way.bench.path)/door/doors.yaml \(more)"
        return try Program("/usr/bin/env", ["sh", "-c", line], logs: way.bench.path + "/logs")
    }

    @Test func `check lists the doors and the producers`() async throws {
        try await Modern().running { bench in
            let way = try Doorway(bench)
            try way.configure(Self.doors)
            let check = try await run("check", way)
            #expect(try await check.end() == 0)
            for line in ["http: JSON at 127.0.0.1:0", "zeromq: at tcp://127.0.0.1:0, for modern", "cron: modern"] {
                #expect(check.text.contains(line + "\n"), "\(check.text)")
            }
        }
    }

    // MARK: Certificates

    /// Runs `certificate` for hosts, with the bench's folder `posing`.
    private func certify(_ hosts: String, _ bench: Bench) async throws -> Program {
        let folder = bench.path + "/posing"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let line = "exec \(try BuiltProgram.doorPath) certificate --folder \(folder) \(hosts)"
        return try Program("/usr/bin/env", ["sh", "-c", line], logs: bench.path + "/logs")
    }

    private func modes(_ bench: Bench) throws -> [String: Int] {
        let folder = bench.path + "/posing"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) {
            $0[$1] = try FileManager.default.attributesOfItem(atPath: "\(folder)/\($1)")[.posixPermissions] as? Int
        }
    }

    @Test func `a certificate is renewed by the authority that clients trust`() async throws {
        try await Modern().running { bench in
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "\(bench.path)/posing/\(name)", encoding: .utf8)
            }
            let first = try await certify("api.push.apple.com api.sandbox.push.apple.com", bench)
            #expect(try await first.end() == 0, "\(first.log)")
            #expect(first.text.contains("certificate: \(bench.path)/posing/door.pem}\n"), "\(first.text)")
            #expect(first.text.contains(" api.push.apple.com api.sandbox.push.apple.com "), "\(first.text)")
            #expect(try modes(bench) == ["door-ca.key": 0o600, "door-ca.pem": 0o644, "door.pem": 0o600])
            let before = try ["door-ca.key", "door-ca.pem", "door.pem"].map(text)
            let second = try await certify("api.push.apple.com", bench)
            #expect(try await second.end() == 0 && second.text.hasSuffix("renewed: send HUP to the doors\n"))
            let after = try ["door-ca.key", "door-ca.pem", "door.pem"].map(text)
            #expect(before[..<2] == after[..<2] && before[2] != after[2])
            #expect(try modes(bench).count == 3)
        }
    }

    @Test(arguments: [
        ("push.example.com", "is not for push.example.com", "the hosts of the first time"),
        ("127.0.0.1", "`127.0.0.1` is no DNS name", "no addresses"),
        ("*.apple.com", "`*.apple.com` is no DNS name", "no addresses"),
    ])
    func `an authority is for the hosts of the first time alone`(host: String, words: String, hint: String) async throws
    {
        try await Modern().running { bench in
            #expect(try await certify("api.push.apple.com", bench).end() == 0)
            let other = try await certify("'\(host)'", bench)
            #expect(try await other.end() == 78)
            #expect(other.log.contains(words) && other.log.contains(hint), "\(other.log)")
        }
    }

    @Test(arguments: [
        ("door-ca.key", "door-ca.pem is there, but door-ca.key is not"), ("door.pem", "has another authority"),
    ])
    func `nothing of another authority is overwritten`(name: String, words: String) async throws {
        try await Modern().running { bench in
            #expect(try await certify("api.push.apple.com", bench).end() == 0)
            let file = "\(bench.path)/posing/\(name)"
            try FileManager.default.removeItem(atPath: file)
            if name == "door.pem" {
                _ = try Doorway(bench)
                try FileManager.default.copyItem(atPath: "\(bench.path)/door/door.pem", toPath: file)
            }
            let before = try modes(bench)
            let again = try await certify("api.push.apple.com", bench)
            #expect(try await again.end() == 78 && again.log.contains(words), "\(again.log)")
            #expect(try modes(bench) == before)
        }
    }

    @Test func `both programs have one version`() async throws {
        try await Modern().running { bench in
            let version = try Program(
                "/usr/bin/env", [try BuiltProgram.doorPath, "--version"], logs: bench.path + "/logs")
            #expect(try await version.end() == 0)
            let other = try await bench.run(["--version"])
            #expect(version.text == other.text && !version.text.isEmpty)
        }
    }

    @Test func `lost output is reported under the program's name`() async throws {
        try await Modern().running { bench in
            let check = try await run("check", try Doorway(bench), "> /dev/full")
            #expect(try await check.end() == 65)
            #expect(check.log.contains("pushspool-door: the output is incomplete: "), "\(check.log)")
        }
    }

    @Test(arguments: [
        (
            "xmlrpc: {listen: \"0.0.0.0:7077\", public: true, producer: cron}",
            "xmlrpc.producer: would let everybody in"
        ), ("http: {listen: \"0.0.0.0:8088\"}", "http.listen: 0.0.0.0 is not a loopback address, and without TLS"),
        ("http: {listen: \"0.0.0.0:8088\", public: false}", "or, on a network that you trust, add public: true"),
        ("xmlrpc: {listen: \"[::]:7077\"}", "xmlrpc.listen: :: is not a loopback address, and without TLS"),
        ("http: {listen: \"127.0.0.1:8088\"}\nmetrics: {listen: \"0.0.0.0:1\"}", "metrics.listen: 0.0.0.0 is not"),
        ("xmlrpc: {listen: \"127.0.0.1:0\", producer: corn}", "did you mean `cron`?"),
        ("zeromq: {bind: \"tcp://0.0.0.0:1\", app: modern}", "zeromq.bind: 0.0.0.0 is not a loopback address"),
        ("zeromq: {bind: \"udp://127.0.0.1:1\", app: modern}", "is not an endpoint"),
        ("http: {listen: \"unix:relative\"}", "the socket path must be absolute"),
        ("xmlrpc: {listen: \"127.0.0.1:1\", provision: maybe}", "xmlrpc.provision"),
    ])
    func `a door that would let strangers in, or cannot open, is refused`(_ lines: String, _ words: String) async throws
    {
        try await Modern().running { bench in
            let way = try Doorway(bench)
            try way.configure(lines)
            let check = try await run("check", way)
            #expect(try await check.end() == 78)
            #expect(check.log.contains(words), "\(check.log)")
        }
    }

    @Test(arguments: [
        "http: {listen: \"0.0.0.0:8088\", public: true}", "xmlrpc: {listen: \"0.0.0.0:7077\", public: true}",
        "http: {listen: \"127.0.0.1:8088\", public: true}\nmetrics: {listen: \"[::]:1\", public: true}",
    ])
    func `other hosts may send tokens in clear if the configuration says so`(_ lines: String) async throws {
        try await Modern().running { bench in
            let way = try Doorway(bench)
            try way.configure(lines)
            let check = try await run("check", way)
            #expect(try await check.end() == 0, "\(check.log)")
        }
    }

    @Test func `a bearer token that could be guessed, or that others can read, is refused`() async throws {
        try await Modern().running { bench in
            let way = try Doorway(bench)
            let path = "\(bench.path)/door/cron.token"
            try Data("short\n".utf8).write(to: URL(fileURLWithPath: path))
            let short = try await run("check", way)
            #expect(try await short.end() == 78)
            #expect(short.log.contains("hint: make one: openssl rand -hex 32"), "\(short.log)")
            try Data((Doorway.bearer + "\n").utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let open = try await run("check", way)
            #expect(try await open.end() == 78)
            #expect(open.log.contains("can be read by group or others"), "\(open.log)")
        }
    }

    @Test func `doctor finds what is missing, and nothing while the doors are open`() async throws {
        try await Modern().serving { bench, _ in
            let way = try Doorway(bench)
            try way.configure("xmlrpc: {listen: \"unix:\(bench.path)/x.sock\"}", apps: "[modern, other]")
            let closed = try await run("doctor", way)
            #expect(try await closed.end() == 1)
            #expect(closed.text.contains("warn names: no app is called other\n"), "\(closed.text)")
            #expect(closed.text.contains("warn daemon: xmlrpc does not listen at unix:"))
            #expect(closed.text.contains("ok permissions modern: "))
            try FileManager.default.moveItem(atPath: "\(bench.path)/doorstate", toPath: "\(bench.path)/gone")
            let stateless = try await run("doctor", way)
            #expect(try await stateless.end() == 78)
            #expect(stateless.text.contains("doorstate cannot be written: "), "\(stateless.text)")
        }
    }

    @Test func `doctor finds folders through which no job can be dropped`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            try await bench.publishApps()
            let way = try Doorway(bench)
            let healthy = try await run("doctor", way)
            _ = try await healthy.end()
            #expect(healthy.text.contains("ok permissions modern: a test file moved from tmp/ to"), "\(healthy.text)")
            let (app, files) = ("\(bench.path)/spool/modern", FileManager.default)
            try files.moveItem(atPath: app + "/new", toPath: bench.path + "/elsewhere")
            try files.createSymbolicLink(atPath: app + "/new", withDestinationPath: bench.path + "/elsewhere")
            let linked = try await run("doctor", way)
            #expect(try await linked.end() == 78)
            #expect(linked.text.contains("fault permissions modern: no job can be dropped: "), "\(linked.text)")
            #expect(linked.text.contains("must be folders, not files or links"), "\(linked.text)")
            #expect(try files.contentsOfDirectory(atPath: bench.path + "/elsewhere").isEmpty)
        }
    }

    @Test func `doctor asks each door, and finds one that only its kernel answers for`() async throws {
        try await Modern().serving { bench, _ in
            var way = try Doorway(bench)
            try way.configure(
                """
                http: {listen: "unix:\(bench.path)/h.sock"}
                xmlrpc: {listen: "unix:\(bench.path)/x.sock"}
                zeromq: {bind: "ipc://\(bench.path)/z.sock", app: modern}
                """)
            try await way.open { door in
                // The relay's port was chosen by the kernel: the doctor must know it.
                way.port = try door.port(of: "relay")
                try way.configure(
                    """
                    http: {listen: "unix:\(bench.path)/h.sock"}
                    xmlrpc: {listen: "unix:\(bench.path)/x.sock"}
                    zeromq: {bind: "ipc://\(bench.path)/z.sock", app: modern}
                    """)
                let healthy = try await run("doctor", way)
                _ = try await healthy.end()
                for name in ["apns", "http", "xmlrpc", "zeromq"] {
                    #expect(healthy.text.contains("ok daemon: \(name) answers at "), "\(healthy.text)")
                }
                door.program.send(SIGSTOP)
                let stuck = try await run("doctor", way)
                #expect(try await stuck.end() == 78)
                door.program.send(SIGCONT)
                for name in ["apns", "http", "xmlrpc", "zeromq"] {
                    #expect(stuck.text.contains("\(name) listens at "), "\(stuck.text)")
                    #expect(!stuck.text.contains("\(name) answers at "), "\(stuck.text)")
                }
            }
        }
    }

    @Test func `demo lets clients push through the doors`() async throws {
        try await Bench.running(try .init()) { bench in
            let folder = bench.path + "/tour"
            let end = try await bench.run(["demo", "--scenario", "door", "--folder", folder])
            #expect(end.code == 0, "\(end)")
            #expect(end.text.contains("each of 6 good notifications was accepted exactly once."), "\(end)")
        }
    }
}
