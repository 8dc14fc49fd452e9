import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// The doors for XML-RPC and ZeroMQ, from the wire to the gateway.
@Suite struct LegacyDoorTests {
    /// Runs a daemon, and a door before its spool.
    private func running(
        _ doors: String, apps: String = "[modern]", _ body: @Sendable (Bench, Doorway) async throws -> Void
    ) async throws {
        try await Modern().serving { bench, _ in
            let way = try Doorway(bench)
            try way.configure(doors, apps: apps)
            try await body(bench, way)
        }
    }

    /// Sends a call with Python's xmlrpc.client, and returns what it prints: the value, or the fault's code and text.
    private func call(_ door: OpenDoor, _ call: String) async throws -> String {
        let program = """
            import sys, xmlrpc.client
            server = xmlrpc.client.ServerProxy("http://127.0.0.1:" + sys.argv[1] + "/", allow_none=True)
            try:
                print(eval("server." + sys.argv[2]))
            except xmlrpc.client.Fault as fault:
                print(fault.faultCode, fault.faultString)
            except xmlrpc.client.ProtocolError as error:
                print("HTTP", error.errcode)
            """
        let python = try Program(
            "/usr/bin/env", ["python3", "-c", program, try door.port(of: "xmlrpc"), call],
            logs: door.way.bench.path + "/logs")
        #expect(try await python.end() == 0, "\(python.log)")
        return python.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static let xmlrpc = "xmlrpc: {listen: \"127.0.0.1:0\"}"
    private static let payload = "{'aps': {'alert': 'x', 'badge': 0}, 'a': [1, 2.5, True, None]}"

    @Test func `pyapns' calls are answered as pyapns did`() async throws {
        try await running(Self.xmlrpc) { bench, way in
            try await way.open { door in
                let cases: [(call: String, answer: String)] = [
                    ("provision('modern', 'cert.pem', 'sandbox', 15)", "None"),
                    ("provision('modern', 'cert.pem', 'sandbox')", "None"),
                    ("notify('other', '\(token(1))', {})", "404 The app_id specified has not been provisioned."),
                    ("notify('modern', '\(token(1))', \(Self.payload))", "None"),
                    ("notify('modern', ['\(token(2))', '\(token(3))'], [\(Self.payload)] * 2)", "None"),
                    ("notify('modern', ['\(token(4))', '\(token(5))'], \(Self.payload))", "None"),
                    ("notify('modern', '\(token(6))', [\(Self.payload)])", "None"),
                    ("feedback('modern')", "[]"),
                    ("feedback('other')", "404 The app_id specified has not been provisioned."),
                ]
                for (call, answer) in cases {
                    let found = try await self.call(door, call)
                    #expect(found == answer, "\(call)")
                }
                let unknown = try await call(door, "provision('other', 'cert.pem', 'sandbox')")
                #expect(unknown.hasPrefix("500 There is no app other; "), "\(unknown)")
                let wrong = try await call(door, "provision('modern', 'cert.pem', 'production')")
                #expect(
                    wrong == "401 The app's environment is sandbox, not production; the daemon's operator can change it"
                )
                let unequal = try await call(door, "notify('modern', ['\(token(1))'] * 2, [\(Self.payload)] * 3)")
                #expect(unequal.hasPrefix("-32602 "), "\(unequal)")
                let ledger = try await bench.accepted(6)
                #expect(ledger.accepted.count == 6)
                let payload = String(decoding: ledger.accepted[0].payload, as: UTF8.self)
                #expect(payload == #"{"aps":{"alert":"x","badge":0},"a":[1,2.5,true,null]}"#)
                let bad = try await call(door, "notify('modern', ['\(token(1))', 'no token!'], \(Self.payload))")
                #expect(bad.hasPrefix("500 "), "\(bad)")
                #expect(try await door.program.stop() == 0, "\(door.program.log)")
            }
        }
    }

    @Test func `a token that is gone is told once, also by the next door`() async throws {
        try await running(Self.xmlrpc) { bench, way in
            // What is no file does not keep the client from the files after it.
            let folder = bench.path + "/spool/modern/feedback/20190101T000000.000000Z-test.jsonl"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try bench.write("spool/modern/feedback/20200101T000000.000000Z-test.jsonl", Self.feedback)
            let told = "[[<DateTime '20261120T07:00:00' at"
            try await way.open { door in
                let answer = try await call(door, "feedback('modern')")
                #expect(answer.hasPrefix(told) && answer.contains("'315ede52'") && !answer.contains("2be9fec9"))
                #expect(try await call(door, "feedback('modern')") == "[]")
                try await door.program.destroy()
            }
            try await way.open { door in
                let answer = try await call(door, "feedback('modern')")
                #expect(answer == "[]")
                #expect(try await door.program.stop() == 0)
            }
        }
    }

    /// A token that is gone, and one that is invalid.
    private static let feedback = """
        {"v":1,"kind":"notification","app":"modern","index":1,"token":"315ede52","outcome":"rejected","status":410,"reason":"Unregistered","verdict":"gone","at":"2026-11-21T11:36:03.071Z","gone_since":"2026-11-20T07:00:00.000Z"}
        {"v":1,"kind":"notification","app":"modern","index":2,"token":"2be9fec9","outcome":"rejected","status":400,"reason":"BadDeviceToken","verdict":"invalid","at":"2026-11-21T11:36:03.071Z"}

        """

    @Test func `who may use no app, or sends what is no call, is refused`() async throws {
        try await running(
            "xmlrpc: {listen: \"127.0.0.1:0\", producer: cron}", apps: "[news]"
        ) { bench, way in
            try await way.open { door in
                let answer = try await call(door, "notify('modern', '\(token(1))', {})")
                #expect(answer == "404 The app_id specified has not been provisioned.")
                let place = "http://127.0.0.1:\(try door.port(of: "xmlrpc"))"
                let cases: [(arguments: [String], status: String)] = [
                    (["--header", "Content-Type: text/plain", "--data", "x", place + "/"], "415"),
                    (["--header", "Content-Type: text/xml", "--data", "x", place + "/RPC2"], "404"),
                    ([place + "/"], "405"),
                    (["--header", "Content-Type: text/xml", "--user", "cron:no", "--data", "x", place + "/"], "401"),
                    (["--header", "Content-Type: text/xml", "--data", "<x>", place + "/"], "200"),
                    // A web page whose name was made to lead here.
                    (
                        [
                            "--header", "Content-Type: text/xml", "--header", "Origin: http://evil.example", "--data",
                            "<x>",
                            place + "/",
                        ], "403"
                    ),
                ]
                for (arguments, status) in cases {
                    let curl = try Program(
                        "/usr/bin/env", ["curl", "--silent", "--include"] + arguments, logs: bench.path + "/logs")
                    #expect(try await curl.end() == 0)
                    #expect(curl.text.hasPrefix("HTTP/1.1 \(status) "), "\(arguments): \(curl.text)")
                }
                #expect(bench.names(in: "modern/new").isEmpty)
            }
        }
    }

    @Test func `provision may write an app, which the daemon takes in`() async throws {
        try await Modern().serving { bench, _ in
            let way = try Doorway(bench)
            try way.configure(
                "xmlrpc: {listen: \"127.0.0.1:0\", provision: create, apps: ../etc/apps}", apps: "'*'")
            try await way.open { door in
                let pem = try String(contentsOfFile: "\(bench.path)/door/client.pem", encoding: .utf8)
                try bench.write("client.pem", pem)
                let call = "provision('pyapp', open('\(bench.path)/client.pem').read(), 'sandbox', 30)"
                #expect(try await self.call(door, call) == "None")
                #expect(bench.names(in: "../etc/apps").contains("pyapp.yaml"))
                let mode = try FileManager.default.attributesOfItem(atPath: "\(bench.path)/etc/apps/pyapp.door.pem")
                #expect(mode[.posixPermissions] as? Int == 0o600)
                #expect(try await self.call(door, call) == "None")
                // What a person wrote stays.
                let own = try await self.call(door, call.replacingOccurrences(of: "'pyapp'", with: "'modern'"))
                #expect(own.hasPrefix("500 ") && own.contains("was not written by a door"), "\(own)")
                let wrong = try await self.call(door, "provision('other', '/etc/passwd', 'sandbox', 30)")
                #expect(wrong.hasPrefix("500 the certificate cannot be used"), "\(wrong)")
                let folder = try await self.call(door, "provision('other', '/etc', 'sandbox', 30)")
                #expect(folder == "500 /etc is a directory; give a regular file")
            }
        }
    }

    // MARK: ZeroMQ

    private static let zeromq = "zeromq: {bind: \"tcp://127.0.0.1:0\", app: modern}"

    @Test func `feedback that its client did not wait for is told to the next`() async throws {
        try await running(Self.zeromq) { bench, way in
            try await way.open { door in
                try bench.write("spool/modern/feedback/20200101T000000.000000Z-test.jsonl", Self.feedback)
                let program = """
                    import socket, struct, sys
                    peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
                    peer.sendall(b"\\xff" + bytes(8) + b"\\x7f\\x03\\x00NULL".ljust(22, b"\\0") + bytes(33))
                    peer.recv(64)
                    ready = b"\\x05READY\\x0bSocket-Type" + struct.pack(">I", 3) + b"REQ"
                    peer.sendall(bytes([4, len(ready)]) + ready)
                    peer.recv(4096)
                    # A client that gives up at once.
                    peer.sendall(b"\\x01\\x00" + b"\\x00\\x08feedback")
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    peer.close()
                    """
                for _ in 0..<5 {
                    let python = try Program(
                        "/usr/bin/env", ["python3", "-c", program, try door.port(of: "zeromq")],
                        logs: bench.path + "/logs")
                    #expect(try await python.end() == 0, "\(python.log)")
                }
                let replies = try await door.talk(["feedback"])
                #expect(replies == ["OK 1795158000:315EDE52 0:2BE9FEC9"])
            }
        }
    }

    @Test func `a producer that was removed lets nobody in`() async throws {
        try await running("xmlrpc: {listen: \"127.0.0.1:0\", producer: cron}") { bench, way in
            try await way.open { door in
                let call = "notify('modern', '\(token(1))', {'aps': {'alert': 'x'}})"
                let before = try await self.call(door, call)
                #expect(before == "None")
                let path = "\(bench.path)/door/doors.yaml"
                let text = try String(contentsOfFile: path, encoding: .utf8)
                try bench.write("door/doors.yaml", text.replacingOccurrences(of: "cron", with: "crow"))
                try bench.write("door/crow.token", Doorway.bearer)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: "\(bench.path)/door/crow.token")
                door.program.send(SIGHUP)
                try await door.program.says("configuration loaded")
                let after = try await self.call(door, call)
                #expect(after == "HTTP 401")
            }
        }
    }

    @Test func `a client without a greeting, as a browser would be, is cut off`() async throws {
        try await running(Self.zeromq) { bench, way in
            try await way.open { door in
                let program = """
                    import socket, sys
                    peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
                    command = b"send +60 1 " + sys.argv[2].encode() + b" hello"
                    # ZMTP 1.0: an anonymous client, an empty part and a command.
                    peer.sendall(b"\\x01\\x00" + b"\\x01\\x01" + bytes([len(command) + 1]) + b"\\x00" + command)
                    rest = b""
                    while True:
                        try: part = peer.recv(4096)
                        except OSError: break
                        if not part: break
                        rest += part
                    print(b"OK" in rest)
                    """
                let python = try Program(
                    "/usr/bin/env", ["python3", "-c", program, try door.port(of: "zeromq"), token(1)],
                    logs: bench.path + "/logs")
                #expect(try await python.end() == 0, "\(python.log)")
                #expect(python.text == "False\n")
                #expect(bench.names(in: "modern/new").isEmpty)
                let replies = try await door.talk(["send +60 1 \(token(1)) hello"])
                #expect(replies == ["OK 0"])
            }
        }
    }

    @Test func `py-apnsd's commands are answered, and their ids go on after a restart`() async throws {
        try await running(Self.zeromq) { bench, way in
            try bench.write("doorstate/zeromq-ids", "34\n")
            try await way.open { door in
                let replies = try await door.talk(
                    [
                        "send +60 1 \(token(1)) hello",
                        "SEND +60 2 \(token(2)) \(token(3)) {\"aps\":{\"alert\":\"x\"}}",
                        "send 1343728831 1 DEADBEAF hello", "feedback", "send +60 1 \(token(4)) {]",
                    ])
                #expect(
                    replies == [
                        "OK 34", "OK 35 36", "ERROR Wrong device token length (6 != 32): DEADBEAF", "OK",
                        "ERROR Invalid JSON payload: {]",
                    ])
                let ledger = try await bench.accepted(3)
                let payloads = ledger.accepted.map { String(decoding: $0.payload, as: UTF8.self) }
                #expect(payloads.contains(#"{"aps":{"alert":"hello"}}"#), "\(payloads)")
                try await door.program.destroy()
            }
            try bench.write("spool/modern/feedback/20200101T000000.000000Z-test.jsonl", Self.feedback)
            try await way.open { door in
                let replies = try await door.talk(["send +60 1 \(token(5)) hello", "feedback", "Feedback"])
                let id = try #require(Int(replies[0].dropFirst(3)))
                #expect(id > 36)
                #expect(replies[1] == "OK 1795158000:315EDE52 0:2BE9FEC9")
                #expect(replies[2] == "OK")
                #expect(try await door.program.stop() == 0, "\(door.program.log)")
            }
        }
    }
}
