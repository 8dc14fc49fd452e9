import Foundation
import Glibc
import TestSupport
import Testing

/// Clients that would have the memory, time or connections of the doors for HTTP/1.1 and ZeroMQ for themselves, while an honest
/// one pushes.
@Suite struct HTTPHostilityTests {
    /// The most memory that a door may have taken in the end, in KiB.
    private static let memoryLimit = 250 << 10

    /// What a hostile client does, how often, and what it must have printed in the end.
    struct Attack: Sendable, CustomTestStringConvertible {
        let act: String
        let door: String
        let count: Int
        let end: String

        var testDescription: String { act }

        static let all = [
            Attack(act: "entities", door: "xmlrpc", count: 1, end: "fault"),
            Attack(act: "depth", door: "xmlrpc", count: 100_000, end: "fault"),
            Attack(act: "endless", door: "xmlrpc", count: 400, end: "refused or cut off"),
            Attack(act: "announced", door: "xmlrpc", count: 60, end: "refused"),
            Attack(act: "endless", door: "http", count: 400, end: "refused or cut off"),
            Attack(act: "pipeline", door: "http", count: 20_000, end: "answered"),
            Attack(act: "junk", door: "http", count: 200, end: "refused or cut off"),
            Attack(act: "junk", door: "zeromq", count: 200, end: "refused or cut off"),
            Attack(act: "giant", door: "zeromq", count: 1, end: "refused or cut off"),
            // Nearly as many as a limit of 20,000 open files allows one of two doors.
            Attack(act: "idle", door: "http", count: isFullRun ? 9_600 : 500, end: "connected"),
        ]
    }

    private static let doors = [
        "http": "", "xmlrpc": "xmlrpc: {listen: \"127.0.0.1:0\"}",
        "zeromq": "zeromq: {bind: \"tcp://127.0.0.1:0\", app: modern}",
    ]

    @Test(arguments: Attack.all)
    func `a hostile client takes little memory, and harms nobody else`(attack: Attack) async throws {
        try await Modern().serving { bench, _ in
            let way = try Doorway(bench)
            let lines = try #require(Self.doors[attack.door])
            try way.configure("http: {listen: \"127.0.0.1:0\"}\nlimits: {connections: 9700}\n\(lines)")
            try await way.open { door in
                let hostile = try Program(
                    "/usr/bin/env",
                    ["python3", "-c", Self.program, try door.port(of: attack.door), attack.act, "\(attack.count)"],
                    logs: bench.path + "/logs")
                var number = 0
                while hostile.process.isRunning {
                    number += 1
                    let answer = try await door.call(
                        "POST", "/v1/apps/modern/jobs", ["--header", "Content-Type: application/json"],
                        body: #"{"token":"\#(token(number))","alert":"x"}"#)
                    #expect(answer.status == "202", "\(answer.text)")
                    try await moment(.milliseconds(300))
                }
                #expect(hostile.process.terminationStatus == 0, "\(hostile.log)")
                #expect(hostile.text == attack.end + "\n")
                #expect(try peak(of: door.program) < Self.memoryLimit)
                #expect(try await door.program.stop() == 0, "\(door.program.log.suffix(2000))")
            }
        }
    }

    /// The most memory that a program has taken, in KiB.
    private func peak(of program: Program) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(program.process.processIdentifier)/status", encoding: .utf8)
        let peak = try #require(status.firstMatch(of: #/VmHWM:\s*(\d+) kB/#)?.output.1)
        return Int(peak) ?? .max
    }

    private static let program = #"""
        import random, resource, socket, sys, time
        port, act, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\n"


        def connect(): return socket.create_connection(("127.0.0.1", port), 30)


        def answer(peer):
            data = b""
            try:
                while True:
                    part = peer.recv(65536)
                    if not part: return data
                    data += part
                    if b"</methodResponse>" in data: return data
            except OSError:
                return data


        def post(body):
            peer = connect()
            peer.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            return answer(peer)


        if act == "entities":
            names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
            body = f'<!DOCTYPE x [<!ENTITY a0 "ha">{names}]><methodCall><methodName>&a9;</methodName></methodCall>'
            print("fault" if b"<fault>" in post(body.encode()) else "accepted")
        elif act == "depth":
            inner = b"<value><array><data>" * count
            body = b"<methodCall><methodName>notify</methodName><params><param>" + inner
            print("fault" if b"<fault>" in post(body) else "accepted")
        elif act == "endless":
            peer = connect()
            peer.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
            try:
                for _ in range(count): peer.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            except OSError: pass
            print("refused or cut off" if b" 200 " not in answer(peer) else "accepted")
        elif act == "announced":
            announced = head + b"Content-Length: 5000000\r\n"
            peers = [connect() for _ in range(count)]
            for peer in peers: peer.sendall(announced + b"Expect: 100-continue\r\n\r\n")
            # Within the door's memory for bodies, 64 MiB, a client is asked for its body. Beyond, it is refused at once, or
            # once its body has come.
            answers = [peer.recv(12, socket.MSG_WAITALL) for peer in peers]
            asked, refused = answers.count(b"HTTP/1.1 100"), answers.count(b"HTTP/1.1 503")
            late = connect()
            late.sendall(announced + b"\r\n" + b"x" * 5000000)
            end = late.recv(12, socket.MSG_WAITALL)
            good = 0 < asked <= 13 and asked + refused == count and end == b"HTTP/1.1 503"
            print("refused" if good else f"{asked} asked, {refused} refused, the last: {end}")
        elif act == "pipeline":
            peer = connect()
            peer.setblocking(False)
            sent = 0
            data = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * count
            end = time.monotonic() + 3
            while sent < len(data) and time.monotonic() < end:
                try: sent += peer.send(data[sent:sent + 65536])
                except BlockingIOError: time.sleep(0.01)
            peer.setblocking(True)
            peer.settimeout(1)
            print("answered" if answer(peer).startswith(b"HTTP/1.1 200") else "silent")
        elif act == "junk":
            generator = random.Random(7)
            for _ in range(count):
                peer = connect()
                try:
                    peer.sendall(generator.randbytes(generator.randrange(1, 2000)))
                    # An end within a head is noticed at once or after a minute.
                    peer.settimeout(0.2)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(4096): pass
                except OSError: pass
                peer.close()
            print("refused or cut off")
        elif act == "giant":
            peer = connect()
            peer.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL".ljust(22, b"\0") + bytes(33))
            peer.recv(64)
            ready = b"\x05READY\x0bSocket-Type\x00\x00\x00\x03REQ"
            peer.sendall(bytes([4, len(ready)]) + ready)
            peer.recv(4096)
            try:
                peer.sendall(b"\x01\x00\x02" + (1 << 40).to_bytes(8, "big"))
                for _ in range(2000): peer.sendall(b"x" * 65536)
            except OSError: pass
            print("refused or cut off")
        elif act == "idle":
            peers = [connect() for _ in range(count)]
            time.sleep(3)
            print("connected" if len(peers) == count else "refused")
        """#
}
