import LinuxIO
import MicroHTTPD
import TestSupport
import Testing

struct HTTPServerTests {
    @Test func `a request arrives with its fields, its query and its body`() async throws {
        try await Exchange.run { exchange in
            try exchange.send(
                "POST /v1/apps/weather%20two/jobs?after=a%2Fb HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a: 2\r\n"
                    + "Content-Length: 5\r\n\r\nhello")
            let request = try await exchange.nextWhole()
            #expect(request.method == "POST")
            #expect(request.path == "/v1/apps/weather two/jobs")
            #expect(request.query == ["after": "a/b"])
            #expect(request.fields["x-a"] == "1, 2")
            #expect(request.takeBody() == Array("hello".utf8))
            exchange.server.answer(
                request, HTTPResponse(status: 202, contentType: "text/plain", body: Array("ok".utf8)))
            let answer = try await exchange.received(until: "\r\n\r\nok")
            #expect(answer.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
            #expect(answer.contains("Content-Type: text/plain\r\n"))
            #expect(try await exchange.isDelivered())
        }
    }

    @Test(arguments: ["", "GET /li", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nh"])
    func `a client that leaves amid a request makes room for the next at once`(beginning: String) async throws {
        try await Exchange.run { exchange in
            try exchange.send(beginning)
            exchange.finishSending()
            // The server finds the end of the stream behind the bytes.
            while exchange.server.connectionCount == 0 { try await exchange.turn() }
            for second in 1...3 {
                exchange.seconds = second
                try await exchange.turn()
            }
            _ = try await exchange.receivedToTheEnd()
        }
    }

    @Test func `a client that sends no more gets its answer`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            exchange.finishSending()
            let request = try await exchange.nextWhole()
            for second in 1...3 {
                exchange.seconds = second
                try await exchange.turn()
            }
            let body = [UInt8](repeating: 0x61, count: 3 << 20)
            exchange.server.answer(request, HTTPResponse(status: 200, body: body))
            for second in 4...6 {
                exchange.seconds = second
                try await exchange.turn()
            }
            #expect(try await exchange.receivedToTheEnd().hasSuffix("aaa"))
        }
    }

    @Test func `requests on one connection are answered in their order`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
            for path in ["/1", "/2"] {
                let request = try await exchange.nextWhole()
                #expect(request.path == path)
                exchange.server.answer(request, HTTPResponse(status: 200, body: Array("(\(path))".utf8)))
                _ = try await exchange.received(until: "(\(path))")
            }
        }
    }

    @Test(arguments: [false, true])
    func `a long body comes in pieces, and waits for each to be taken`(isChunked: Bool) async throws {
        try await Exchange.run { exchange in
            exchange.limit = 1_000
            let body = String(repeating: "0123456789", count: 5_000)
            let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 50000"
            let chunk = "1F4\r\n" + String(repeating: "0123456789", count: 50) + "\r\n"
            let sent = isChunked ? String(repeating: chunk, count: 100) + "0\r\n\r\n" : body
            try exchange.send("POST / HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n" + sent)
            var arrived: [UInt8] = []
            while true {
                switch try await exchange.nextEvent() {
                case .piece(let request):
                    #expect(request.body.count >= 1_000)
                    arrived += request.takeBody()
                    exchange.server.proceed(request)
                case .whole(let request):
                    arrived += request.takeBody()
                    #expect(arrived == Array(body.utf8))
                    #expect(request.bodyByteCount == 50_000)
                    return
                case .drained, .ended: Issue.record("the request ended too early")
                }
            }
        }
    }

    @Test func `an answer may be known before the body`() async throws {
        try await Exchange.run { exchange in
            exchange.refusal = HTTPResponse(status: 401, body: Array("no".utf8))
            try exchange.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
            let answer = try await exchange.received(until: "\r\n\r\nno")
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
        }
    }

    @Test func `a client that asks first is told before it sends a body`() async throws {
        try await Exchange.run { exchange in
            exchange.refusal = HTTPResponse(status: 413, body: Array("too long".utf8))
            try exchange.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
            let answer = try await exchange.received(until: "too long")
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func `a stream is sent as it is given`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let request = try await exchange.nextWhole()
            var response = HTTPResponse(status: 200, body: Array("one ".utf8))
            response.isStream = true
            exchange.server.answer(request, response)
            _ = try await exchange.received(until: "one ")
            for (word, isLast) in [("two ", false), ("three", true)] {
                guard case .drained(let drained) = try await exchange.nextEvent() else {
                    Issue.record("no request for more")
                    return
                }
                exchange.server.send(Array(word.utf8), isLast: isLast, on: drained)
                _ = try await exchange.received(until: word)
            }
            _ = try await exchange.received(until: "0\r\n\r\n")
            #expect(try await exchange.isDelivered())
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel", "",
    ])
    func `a client that does not go on is cut off`(_ beginning: String) async throws {
        try await Exchange.run { exchange in
            try exchange.send(beginning)
            try await exchange.turn()
            exchange.seconds += 61
            _ = try await exchange.receivedToTheEnd()
            #expect(exchange.server.openConnectionCount == 0)
        }
    }

    @Test func `a request that its owner works on may take long`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let request = try await exchange.nextWhole()
            exchange.seconds += 1_000
            try await exchange.turn()
            exchange.server.answer(request, HTTPResponse(status: 200, body: Array("late".utf8)))
            _ = try await exchange.received(until: "late")
        }
    }

    @Test func `an unwanted body without an end is cut off`() async throws {
        try await Exchange.run { exchange in
            exchange.refusal = HTTPResponse(status: 413)
            try exchange.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
            do {
                for _ in 0..<40 {
                    try exchange.send(chunk)
                    try await exchange.turn()
                }
                _ = try await exchange.receivedToTheEnd()
            } catch let error as SystemError {
                #expect(["EPIPE", "ECONNRESET"].contains(error.name))
            }
            #expect(exchange.server.openConnectionCount == 0)
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "GARBAGE\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "x", count: 100_000) + "\r\n\r\n",
    ])
    func `a malformed head is refused without asking the owner`(_ head: String) async throws {
        try await Exchange.run { exchange in
            try exchange.send(head)
            let answer = try await exchange.receivedToTheEnd()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
            #expect(exchange.admittedCount == 0)
        }
    }

    @Test func `a stream that is broken off does not look complete`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let request = try await exchange.nextWhole()
            var response = HTTPResponse(status: 200, body: Array("one ".utf8))
            response.isStream = true
            exchange.server.answer(request, response)
            guard case .drained(let drained) = try await exchange.nextEvent() else { return }
            exchange.server.breakOff(drained)
            let answer = try await exchange.receivedToTheEnd()
            #expect(answer.contains("one ") && !answer.hasSuffix("0\r\n\r\n"), "\(answer)")
        }
    }

    @Test func `a client that was idle has all its time for the next request`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
            exchange.server.answer(try await exchange.nextWhole(), HTTPResponse(status: 200, body: Array("(1)".utf8)))
            _ = try await exchange.received(until: "(1)")
            exchange.seconds += 55
            try exchange.send("POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
            try await exchange.turn()
            exchange.seconds += 55
            try exchange.send("b")
            #expect(try await exchange.nextWhole().path == "/2")
        }
    }

    @Test(arguments: [
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            400
        ),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\nab", 400),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            400
        ),
        ("POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\nab", 501),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\r\nidempotency-key: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: a\0\r\nY: 1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: a\u{1}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n  folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n Y: z\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nX Y: z\r\n\r\n", 400),
        ("GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET /?a=%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ])
    func `a head that a proxy may read otherwise is refused`(_ request: String, _ status: Int) async throws {
        try await Exchange.run { exchange in
            try exchange.send(request)
            let answer = try await exchange.receivedToTheEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            #expect(exchange.admittedCount == 0)
        }
    }

    @Test func `a refused head is answered with a problem that says why`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET /?a=%00 HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try await exchange.receivedToTheEnd()
            #expect(answer.contains("\r\nContent-Type: application/problem+json\r\n"), "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\n{\"status\":400,\"title\":\"the target has a NUL\"}\n"), "\(answer)")
        }
    }

    @Test func `an honest head is taken, however it arrives`() async throws {
        let start = "POST /a%20b?c=d%2Fe HTTP/1.1\r\nHost: x\r\n"
        let fields = (0..<60).map { "X-\($0): \(String(repeating: "v ", count: $0 * 7))\r\n" }.joined()
        let rest = "Cookie: a=b; c=d\r\nA:\r\nB:b\r\nC:  \t c\t \r\nContent-Length: 2\r\n\r\nok"
        for seed in UInt64(0)..<40 {
            var random = SeededGenerator(seed: seed)
            let lead = Bool.random(using: &random) ? "\r\n" : ""
            let text = Array((lead + start + (Bool.random(using: &random) ? fields : "") + rest).utf8)
            let cuts = (0..<6).map { _ in Int.random(in: 0...text.count, using: &random) }.sorted()
            try await Exchange.run { exchange in
                for (from, to) in zip([0] + cuts, cuts + [text.count]) {
                    try exchange.send(String(decoding: text[from..<to], as: UTF8.self))
                    try await exchange.turn()
                }
                let request = try await exchange.nextWhole()
                #expect(request.path == "/a b" && request.query == ["c": "d/e"], "seed \(seed)")
                #expect(
                    request.fields["a"] == "" && request.fields["b"] == "b" && request.fields["c"] == "c",
                    "seed \(seed)")
                #expect(request.takeBody() == Array("ok".utf8), "seed \(seed)")
            }
        }
    }

    @Test(arguments: [
        ("http://door.example:8088/v1/a%2Fb?c=d", "/v1/a/b"), ("HTTP://x", "/"), ("https://x?c=d", "/"),
        ("/http://x", "/http://x"), ("http://x?\u{301}c=d", "/"), ("http://x/\u{301}", "/\u{301}"),
    ])
    func `a target that is a whole URI names its path`(_ target: String, _ path: String) async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET \(target) HTTP/1.1\r\nHost: y\r\n\r\n")
            let request = try await exchange.nextWhole()
            #expect(request.path == path)
            #expect(request.query.values.first == (target.contains("=") ? "d" : nil))
        }
    }

    @Test func `a full server that all its clients leave takes the next one`() async throws {
        try await onReactor { reactor in
            let socket = try BoundSocket(.loopback())
            let address = socket.address
            var limits = HTTPServer.Limits()
            limits.connections = 2
            let server = try #require(HTTPServer(socket: socket.takeDescriptor().relinquish(), limits: limits))
            let watch = try Channel(Descriptor(adopting: server.duplicateDescriptor()), on: reactor)
            func connect() async throws -> StreamSocket {
                try await StreamSocket.connect(to: address, on: reactor, until: .now + .seconds(60))
            }
            /// Runs the server as its owner does, until it has so many connections.
            func run(until count: Int) async {
                while true {
                    server.run(at: 0) { _ in .read(limit: 0) }
                    guard server.openConnectionCount != count else { return }
                    let pause = server.pause.map { Duration.milliseconds($0) }
                    let found = await watch.waitUntilReadable(until: .now + (pause ?? .seconds(30)))
                    if pause == nil, found.contains(.timedOut) { return }
                }
            }
            let clients = [try await connect(), try await connect()]
            await run(until: 2)
            // At its limit, it stops looking for others.
            server.run(at: 0) { _ in .read(limit: 0) }
            for client in clients { client.abort() }
            await run(until: 0)
            let next = try await connect()
            _ = await watch.waitUntilReadable(until: .now + (server.pause.map { .milliseconds($0) } ?? .seconds(30)))
            await run(until: 1)
            #expect(server.openConnectionCount == 1)
            next.abort()
        }
    }

    @Test func `at the end, requests are answered, and connections close`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let request = try await exchange.nextWhole()
            exchange.server.beginStopping()
            exchange.server.answer(request, HTTPResponse(status: 200, body: Array("last".utf8)))
            let answer = try await exchange.receivedToTheEnd()
            #expect(answer.contains("Connection: close"))
            #expect(answer.hasSuffix("last"))
        }
    }

    @Test func `a server may end while its owner works on a request`() async throws {
        try await Exchange.run { exchange in
            try exchange.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await exchange.nextWhole().path == "/")
        }
    }
}
