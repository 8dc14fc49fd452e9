import APNSHTTP2
import Foundation
import LinuxIO
import OpenSSL
import TestSupport
import Testing

/// A door beside a bench's spool, for the producers `fleet`, with a key, and `billing`, with a certificate.
struct Doorway: Sendable {
    let bench: Bench
    /// The folder of its state.
    private let state: String
    /// Where it listens, in the next configuration; 0: the kernel chooses.
    var port = "0"
    /// The key of `fleet`.
    private let key: ThrowawayTokenKey
    private static let identity = ("DOORKEY001", "FLEETTEAM1")
    /// The producers that share the key of `fleet`, each under a key id of its own.
    static let others = (2...4).map { (name: "fleet\($0)", keyID: "DOORKEY00\($0)") }

    /// The bearer token of `cron`.
    static let bearer = "0123456789abcdef0123456789abcdef"

    /// Writes the files of a door. `more` are further lines of its configuration.
    init(_ bench: Bench, _ more: String = "", state: String = "doorstate") throws {
        (self.bench, self.state) = (bench, state)
        key = try ThrowawayTokenKey()
        for name in [folder, state] {
            try FileManager.default.createDirectory(atPath: "\(bench.path)/\(name)", withIntermediateDirectories: true)
        }
        let authority = try CertificateAuthority(commonName: "Door")
        let server = try authority.issue(.server(["localhost", "127.0.0.1"]))
        let client = try authority.issue(.push(topic: "com.example.billing"))
        try write("ca.pem", authority.certificatePEM())
        try write("door.pem", server.certificatePEM() + server.keyPEM())
        try write("billing.pem", client.certificatePEM())
        try write("client.pem", client.certificatePEM() + client.keyPEM())
        try write("fleet.pem", key.publicKeyPEM)
        try write("fleet.p8", key.p8)
        try write("cron.token", Array((Self.bearer + "\n").utf8))
        try configure(more)
    }

    /// The folder of its files.
    var folder: String { state == "doorstate" ? "door" : "door-" + state }

    /// Writes the configuration. `more` are further lines, `relay` further members of the relay's; `apps` and `rate` are those
    /// of `fleet`.
    func configure(
        _ more: String = "", apps: String = "[modern]", rate: String = "1000000/s", relay: String = ""
    ) throws {
        let (keyID, teamID) = Self.identity
        try bench.write(
            "\(folder)/doors.yaml",
            """
            spool: ../spool
            state: ../\(state)
            producers:
              fleet: {key: fleet.pem, key_id: \(keyID), team_id: \(teamID), apps: \(apps), rate: \(rate)}
            \(Self.others.map { Self.producer($0.name, $0.keyID) }.joined(separator: "\n"))
              billing: {certificate: billing.pem, apps: "*"}
              cron: {bearer_file: cron.token, apps: \(apps), rate: \(rate)}
            apns: {listen: "127.0.0.1:\(port)", certificate: door.pem\(relay.isEmpty ? "" : ", " + relay)}
            log: {level: debug}
            \(more)

            """)
    }

    private static func producer(_ name: String, _ keyID: String) -> String {
        "  \(name): {key: fleet.pem, key_id: \(keyID), team_id: \(identity.1), apps: [modern]}"
    }

    private func write(_ name: String, _ bytes: [UInt8]) throws {
        let path = "\(bench.path)/\(folder)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Runs a door while `body` runs, and makes sure that it has ended. `environment` has definitions for env(1).
    func open(_ environment: [String] = [], _ body: (OpenDoor) async throws -> Void) async throws {
        let command = [try BuiltProgram.doorPath, "run", "--config", "\(bench.path)/\(folder)/doors.yaml"]
        let program = try Program("/usr/bin/env", environment + command, logs: bench.path + "/logs")
        try await bench.watching(program) { program in
            try await program.says("started path=")
            try await body(OpenDoor(program: program, way: self))
        }
    }

    /// A provider token of `fleet`, or one that is signed with its key for other names or at another time.
    func token(keyID: String = identity.0, age: Int64 = 0) throws -> String {
        let identity = try #require(ProviderIdentity(keyID: keyID, teamID: Self.identity.1))
        let issuedAt = WallClock.nanoseconds() / 1_000_000_000 - age
        let input = ProviderToken.signingInput(identity: identity, issuedAt: issuedAt)
        let signature = try key.signer.sign(input.span)
        return ProviderToken(identity: identity, issuedAt: issuedAt, signature: signature).text
    }
}

/// A door that runs.
struct OpenDoor {
    /// Returns the port on which one of its doors listens.
    func port(of door: String) throws -> String {
        let place = "\(door) listens path=" + (door == "zeromq" ? "tcp://" : "") + "127.0.0.1:"
        let start = try #require(program.log.firstRange(of: place)?.upperBound)
        return String(program.log[start...].prefix { $0.isNumber })
    }

    /// Sends one request to the door for JSON with curl, as `cron` unless `more` has an identity.
    func call(_ method: String, _ path: String, _ more: [String] = [], body: String? = nil) async throws -> Answer {
        let hasIdentity = more.contains("--user") || more.contains { $0.lowercased().hasPrefix("authorization") }
        let identity = hasIdentity ? [] : ["--header", "Authorization: Bearer \(Doorway.bearer)"]
        let content = body == nil ? [] : ["--data-binary", "@-"]
        let curl = try Program(
            "/usr/bin/env",
            ["curl", "--silent", "--show-error", "--include", "--max-time", "30", "--request", method] + identity
                + content + more + ["http://127.0.0.1:\(try port(of: "http"))\(path)"],
            input: body ?? "", logs: way.bench.path + "/logs")
        let code = try await curl.end()
        try #require(code == 0, "curl: \(curl.log)")
        let status = curl.text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return Answer(status: status, text: curl.text)
    }

    let program: Program
    let way: Doorway

    /// Calls `notify` over XML-RPC for one token, without an identity. Returns the answer.
    func notify(_ number: Int, app: String = "modern") async throws -> String {
        func mapping(_ name: String, _ value: String) -> String {
            "<struct><member><name>\(name)</name><value>\(value)</value></member></struct>"
        }
        let values = [app, token(number), mapping("aps", mapping("alert", "x"))]
        let parameters = values.map { "<param><value>\($0)</value></param>" }.joined()
        let body = "<methodCall><methodName>notify</methodName><params>\(parameters)</params></methodCall>"
        let curl = try Program(
            "/usr/bin/env",
            [
                "curl", "--silent", "--show-error", "--max-time", "30", "--header", "Content-Type: text/xml",
                "--data-binary", "@-", "http://127.0.0.1:\(try port(of: "xmlrpc"))/",
            ], input: body, logs: way.bench.path + "/logs")
        let code = try await curl.end()
        try #require(code == 0, "curl: \(curl.log)")
        return curl.text
    }

    /// Sends requests over ZMTP 3.0 as a client of type REQ does, and returns the replies.
    func talk(_ requests: [String]) async throws -> [String] {
        let program = """
            import socket, struct, sys
            peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
            def take(count):
                data = b""
                while len(data) < count:
                    part = peer.recv(count - len(data))
                    if not part: raise SystemExit("closed")
                    data += part
                return data
            def frame():
                flags = take(1)[0]
                size = struct.unpack(">Q", take(8))[0] if flags & 2 else take(1)[0]
                return flags, take(size)
            peer.sendall(b"\\xff" + bytes(8) + b"\\x7f\\x03\\x00NULL".ljust(22, b"\\0") + bytes(33))
            take(64)
            ready = b"\\x05READY\\x0bSocket-Type" + struct.pack(">I", 3) + b"REQ"
            peer.sendall(bytes([4, len(ready)]) + ready)
            frame()
            for request in sys.argv[2:]:
                data = request.encode()
                peer.sendall(b"\\x01\\x00" + b"\\x02" + struct.pack(">Q", len(data)) + data)
                frame()
                print(frame()[1].decode())
            """
        let python = try Program(
            "/usr/bin/env", ["python3", "-c", program, try port(of: "zeromq")] + requests,
            logs: way.bench.path + "/logs")
        #expect(try await python.end() == 0, "\(python.log)")
        return python.text.split(separator: "\n").map(String.init)
    }

    /// The answer to a request.
    struct Answer {
        let status: String
        let text: String

        /// What follows the head.
        var body: String { text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }

        /// The value of a header field.
        func field(_ name: String) -> String? {
            text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ": ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
    }

    /// Sends one request with curl: with a token of `fleet`, unless `more` has another identity.
    func ask(_ number: Int, _ more: [String] = [], body: String = #"{"aps":{"alert":"x"}}"#) async throws -> Answer {
        try await answer(to: try begin(number, more, body: body))
    }

    /// Begins a request as `ask` does.
    func begin(_ number: Int, _ more: [String] = [], body: String = #"{"aps":{"alert":"x"}}"#) throws -> Program {
        let hasIdentity = more.contains("--cert") || more.contains { $0.hasPrefix("authorization") }
        let identity = hasIdentity ? [] : ["--header", "authorization: bearer \(try way.token())"]
        let topic = more.contains { $0.hasPrefix("apns-topic") } ? [] : ["--header", "apns-topic: com.example.weather"]
        return try Program(
            "/usr/bin/env",
            [
                "curl", "--silent", "--show-error", "--http2", "--include", "--max-time", "30", "--cacert",
                "\(way.bench.path)/\(way.folder)/ca.pem", "--data-binary", "@-",
            ] + identity + topic + more + ["https://localhost:\(try port(of: "relay"))/3/device/\(token(number))"],
            input: body, logs: way.bench.path + "/logs")
    }

    /// Waits for the answer to a request that was begun.
    func answer(to curl: Program) async throws -> Answer {
        let code = try await curl.end()
        try #require(code == 0, "curl: \(curl.log)")
        let status = curl.text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return Answer(status: status, text: curl.text)
    }
}
