import Foundation
import TestSupport
import Testing

/// A door before a bench's spool, and a client that pushes through all that it has, one notification after the other.
struct DoorUnderTest {
    let bench: Bench
    private let bearer = "fault-0123456789abcdef"

    /// Writes the files of a door on any ports.
    init(_ bench: Bench) throws {
        self.bench = bench
        try FileManager.default.createDirectory(
            atPath: "\(bench.home)/doorstate", withIntermediateDirectories: true)
        try bench.write("cron.token", bearer)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(bench.home)/cron.token")
        try configure(ports: ["0", "0", "0", "0"])
    }

    /// Writes the configuration, with the ports of the relay, JSON, XML-RPC and ZeroMQ.
    func configure(ports: [String]) throws {
        try bench.write(
            "doors.yaml",
            """
            spool: \(bench.ground)/spool
            state: doorstate
            limits: {free_space: 0}
            producers:
              fleet: {certificate: certificates/client.pem, apps: "*"}
              cron: {bearer_file: cron.token, apps: "*"}
            apns: {listen: "127.0.0.1:\(ports[0])", certificate: certificates/server.pem}
            http: {listen: "127.0.0.1:\(ports[1])"}
            xmlrpc: {listen: "127.0.0.1:\(ports[2])"}
            zeromq: {bind: "tcp://127.0.0.1:\(ports[3])", app: weather}

            """)
    }

    /// Lets a daemon say once which apps there are.
    func announceApps() async throws {
        try await bench.withDaemon { daemon in
            try await daemon.says("app started")
            #expect(try await daemon.stop() == 0)
        }
    }

    /// Starts the door.
    func start(_ environment: [String: String] = [:]) async throws -> Child {
        let run = [try BuiltProgram.doorPath, "run", "--config", bench.home + "/doors.yaml"]
        let door = try Child(bench.volume?.inside(run) ?? run, environment: environment, logs: bench.home + "/logs")
        do {
            try await eventually("the door: \(door.log.suffix(2000))") {
                door.log.contains("started path=") || !door.process.isRunning || door.isStopped
            }
            return door
        } catch {
            try await door.destroy()
            throw error
        }
    }

    /// The ports of the relay, JSON, XML-RPC and ZeroMQ.
    func ports(of door: Child) throws -> [String] {
        try ["relay", "http", "xmlrpc", "zeromq"].map { try port(of: $0, door) }
    }

    /// Starts a client that pushes one notification after the other.
    ///
    /// - Parameters:
    ///   - first: The number of the first.
    ///   - step: How far the next number is, which decides about the door.
    ///   - count: How many it pushes at all costs, each until it is accepted; 0: it ends when the door does not answer.
    ///   - ports: The ports of the doors.
    /// - Returns: The client.
    /// - Throws: What keeps it from being started.
    func startClient(from first: Int, by step: Int = 1, count: Int = 0, ports: [String]) throws -> Child {
        let numbers = ["\(first)", "\(step)", "\(count)"]
        return try Child(
            ["python3", "-c", Self.client] + numbers + [bench.home + "/certificates", bearer] + ports,
            logs: bench.home + "/logs")
    }

    /// Runs the door and a client while `body` runs.
    ///
    /// - Returns: What the client has printed.
    func pushing(
        from number: Int, _ environment: [String: String] = [:],
        _ body: (_ door: Child, _ client: Child) async throws -> Void
    ) async throws -> [Substring] {
        let door = try await start(environment)
        do {
            let client = try startClient(from: number, ports: try ports(of: door))
            do {
                try await body(door, client)
            } catch {
                try await client.destroy()
                throw error
            }
            try await door.destroy()
            try await client.destroy()
            return client.log.split(separator: "\n")
        } catch {
            try await door.destroy()
            throw error
        }
    }

    private func port(of name: String, _ door: Child) throws -> String {
        let log = door.log
        let start = try #require(
            log.firstMatch(of: try Regex("\(name) listens path=[a-z:/]*127.0.0.1:"))?.range.upperBound)
        return String(log[start...].prefix { $0.isNumber })
    }

    /// The token of a notification, as the client makes it.
    static func token(_ number: Int) -> String { String(format: "%064x", number) }

    /// Prints `accepted N`, `refused N`, or `lost N` and ends if the door does not answer.
    private static let client = #"""
        import http.client, json, socket, struct, subprocess, sys, time, urllib.error, urllib.request, xml.parsers.expat
        import xmlrpc.client
        number, step, count = [int(word) for word in sys.argv[1:4]]
        certificates, bearer, relay, web, rpc, zmq = sys.argv[4:10]
        payload = {"aps": {"alert": "x"}}


        def over_relay(token):
            curl = subprocess.run(
                ["curl", "--silent", "--http2", "--max-time", "20", "--cacert", certificates + "/ca.pem", "--cert",
                 certificates + "/client.pem", "--header", "apns-topic: com.example.weather", "--write-out", "%{http_code}",
                 "--data", json.dumps(payload), f"https://localhost:{relay}/3/device/{token}"], capture_output=True)
            if curl.returncode: raise OSError("curl")
            return curl.stdout.endswith(b"200")


        def over_http(token):
            request = urllib.request.Request(
                f"http://127.0.0.1:{web}/v1/apps/weather/jobs", json.dumps({"token": token, "payload": payload}).encode(),
                {"Content-Type": "application/json", "Authorization": "Bearer " + bearer, "Idempotency-Key": f"k{number}"})
            try:
                with urllib.request.urlopen(request, timeout=20) as answer: return answer.status == 202
            except urllib.error.HTTPError as error:
                if error.code != 503: raise
                return False


        def over_xmlrpc(token):
            try:
                xmlrpc.client.ServerProxy(f"http://127.0.0.1:{rpc}/", allow_none=True).notify("weather", token, payload)
                return True
            except xmlrpc.client.Fault as fault:
                if fault.faultCode != 500: raise
                return False
            except xml.parsers.expat.ExpatError:
                # The door has died between the head of its answer and the end.
                raise OSError("cut")


        def over_zeromq(token):
            peer = socket.create_connection(("127.0.0.1", int(zmq)), 20)

            def take(count):
                data = b""
                while len(data) < count:
                    part = peer.recv(count - len(data))
                    if not part: raise OSError("closed")
                    data += part
                return data

            def frame():
                flags = take(1)[0]
                return take(struct.unpack(">Q", take(8))[0] if flags & 2 else take(1)[0])

            peer.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL".ljust(22, b"\0") + bytes(33))
            take(64)
            ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 3) + b"REQ"
            peer.sendall(bytes([4, len(ready)]) + ready)
            frame()
            command = f"send +3600 1 {token} {json.dumps(payload)}".encode()
            peer.sendall(b"\x01\x00\x02" + struct.pack(">Q", len(command)) + command)
            frame()
            reply = frame()
            peer.close()
            if reply.startswith(b"OK "): return True
            if b"now" not in reply: raise ValueError(reply)
            return False


        ways = [over_http, over_xmlrpc, over_zeromq, over_relay]
        last = number + step * count
        while count == 0 or number < last:
            try:
                accepted = ways[number % len(ways)](f"{number:064x}")
            except (OSError, http.client.HTTPException):
                if count == 0:
                    print("lost", number, flush=True)
                    break
                accepted = None
            if accepted is not None: print("accepted" if accepted else "refused", number, flush=True)
            if accepted or count == 0: number += step
            if not accepted: time.sleep(0.05)
        """#
}
