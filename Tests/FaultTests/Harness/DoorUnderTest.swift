import Foundation
import TestSupport
import Testing

/// A door before a bench's spool, and a client that pushes through all that it has, one notification after the other.
struct DoorUnderTest {
    let bench: Bench
    private let bearer = "fault-0123456789abcdef"

    /// Writes the configuration.
    init(_ bench: Bench) throws {
        self.bench = bench
        try FileManager.default.createDirectory(
            atPath: "\(bench.home)/doorstate", withIntermediateDirectories: true)
        try bench.write("cron.token", bearer)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(bench.home)/cron.token")
        try bench.write(
            "doors.yaml",
            """
            spool: \(bench.ground)/spool
            state: doorstate
            limits: {free_space: 0}
            producers:
              fleet: {certificate: certificates/client.pem, apps: "*"}
              cron: {bearer_file: cron.token, apps: "*"}
            apns: {listen: "127.0.0.1:0", certificate: certificates/server.pem}
            http: {listen: "127.0.0.1:0"}
            xmlrpc: {listen: "127.0.0.1:0"}
            zeromq: {bind: "tcp://127.0.0.1:0", app: weather}

            """)
    }

    /// Lets a daemon say once which apps there are.
    func announceApps() async throws {
        try await bench.withDaemon { daemon in
            try await daemon.says("app started")
            #expect(try await daemon.stop() == 0)
        }
    }

    /// Runs the door and the client while `body` runs.
    ///
    /// - Returns: What the client has printed.
    func pushing(
        from number: Int, _ environment: [String: String] = [:],
        _ body: (_ door: Child, _ client: Child) async throws -> Void
    ) async throws -> [Substring] {
        let run = [try BuiltProgram.doorPath, "run", "--config", bench.home + "/doors.yaml"]
        let door = try Child(bench.volume?.inside(run) ?? run, environment: environment, logs: bench.home + "/logs")
        do {
            try await eventually("the door: \(door.log.suffix(2000))") {
                door.log.contains("started path=") || !door.process.isRunning || door.isStopped
            }
            let ports = try ["relay", "http", "xmlrpc", "zeromq"].map { try port(of: $0, door) }
            let arguments = ["\(number)", bench.home + "/certificates", bearer] + ports
            let client = try Child(["python3", "-c", Self.client] + arguments, logs: bench.home + "/logs")
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
        import json, socket, struct, subprocess, sys, time, urllib.error, urllib.request, xmlrpc.client
        number, certificates, bearer = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        relay, http, rpc, zmq = sys.argv[4:8]
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
                f"http://127.0.0.1:{http}/v1/apps/weather/jobs", json.dumps({"token": token, "payload": payload}).encode(),
                {"Content-Type": "application/json", "Authorization": "Bearer " + bearer})
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
        while True:
            try:
                accepted = ways[number % len(ways)](f"{number:064x}")
            except OSError:
                print("lost", number, flush=True)
                break
            print("accepted" if accepted else "refused", number, flush=True)
            if not accepted: time.sleep(0.05)
            number += 1
        """#
}
