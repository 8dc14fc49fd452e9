import LinuxIO
import OpenSSL
import TestSupport
import Testing

@testable import SecureTransport

/// Connections through a proxy over loopback.
struct ProxyConnectTests {
    private let target = HostPort(host: "gateway.example", port: 443)

    /// Asks a proxy whose answer is on its way already. Returns what came through, and what the proxy was asked.
    private func ask(
        _ url: String, answered answer: String?, thenClosed isClosed: Bool = false,
        until deadline: Duration = .seconds(60)
    ) async throws -> (rest: [UInt8], question: String) {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            if let answer { try await pair.other.writeAll(Array(answer.utf8)) }
            if isClosed { pair.other.shutdownWrite() }
            let rest = try await ProxyConnect.open(
                target, through: Proxy(url: url), over: pair.one, until: .now + deadline)
            pair.one.shutdownWrite()
            return (rest, String(decoding: try await pair.other.readAll(), as: UTF8.self))
        }
    }

    private func refusal(_ answer: String, url: String = "http://h:1", thenClosed isClosed: Bool = false) async
        -> ProxyError?
    {
        await thrownError(ProxyError.self) { _ = try await ask(url, answered: answer, thenClosed: isClosed) }
    }

    @Test func `a proxy that opens the way hands over what came through it`() async throws {
        let result = try await ask("http://me:pw@h:1", answered: "HTTP/1.1 200 OK\r\n\r\nearly")
        #expect(result.rest == Array("early".utf8))
        #expect(
            result.question
                == "CONNECT gateway.example:443 HTTP/1.1\r\nHost: gateway.example:443\r\n"
                + "Proxy-Authorization: Basic bWU6cHc=\r\n\r\n")
    }

    @Test(arguments: [
        ("http://h:1", "proxy h:1 requires a login (407 No)", "write http://user:password@host:port"),
        (
            "http://u:p@h:1", "proxy h:1 refused the login (407 No)",
            "check user and password, and that it accepts Basic logins"
        ),
    ])
    func `a login that is missing or wrong is told`(url: String, message: String, hint: String) async {
        let error = await refusal("HTTP/1.1 407 No\r\n\r\n", url: url)
        #expect(error?.message == message && error?.hint == hint)
    }

    @Test(arguments: [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "proxy h:1 refused to connect to gateway.example:443 (403 Forbidden)"),
        ("HTTP/1.1 502\r\n\r\n", "proxy h:1 could not connect to gateway.example:443 (502)"),
        ("HTTP/1.1 301 Moved\r\n\r\n", "proxy h:1 could not connect to gateway.example:443 (301 Moved)"),
        ("SSH-2.0-OpenSSH\r\n", "proxy h:1 does not answer in HTTP"),
        ("HTTP/1.1 200 " + String(repeating: "x", count: 9_000), "proxy h:1 answers with more than 8192 bytes"),
    ])
    func `a proxy that gives no way is named, with its words`(answer: String, message: String) async {
        #expect(await refusal(answer)?.message == message)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n"])
    func `a proxy that closes is named`(answer: String) async {
        let error = await refusal(answer, thenClosed: true)
        #expect(error?.message == "proxy h:1 closed the connection without an answer" && error?.hint != nil)
    }

    @Test func `a proxy that is silent is given up at the deadline`() async {
        let error = await thrownError(SystemError.self) {
            _ = try await ask("http://h:1", answered: nil, until: .milliseconds(20))
        }
        #expect(error?.isTimeOut == true && error?.description.contains("proxy h:1") == true)
    }

    @Test func `a host that would break the request is not asked for`() async throws {
        let error = try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            let target = HostPort(host: "a\r\nHost: b", port: 1)
            return await thrownError(ProxyError.self) {
                _ = try await ProxyConnect.open(
                    target, through: Proxy(url: "http://h:1"), over: pair.one, until: .soon)
            }
        }
        #expect(error?.hint == "check the gateway's host")
    }

    @Test func `TLS goes through a proxy to the server behind it`() async throws {
        let wire = try Wire()
        let received = try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            let port = listener.address.port
            async let client = ReactorHost(reactor).run { try await Self.greet(port, wire, $0) }
            let socket = try #require(try await listener.accept(until: .soon))
            let question = try await Self.readHead(socket)
            #expect(question.hasPrefix("CONNECT gateway.example:443 HTTP/1.1\r\n"))
            try await socket.writeAll(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            // What is behind a proxy is another connection; to the client it is the same one.
            let server = try SecureStream(accepting: socket, context: wire.server)
            try await server.handshake(until: .soon)
            let greeting = try await server.receive(upTo: 5).bytes
            try await client
            return greeting
        }
        #expect(received == Array("hello".utf8))
    }

    private static func greet(_ port: UInt16, _ wire: Wire, _ reactor: Reactor) async throws {
        var endpoint = SecureEndpoint(
            host: HostPort(host: "gateway.example", port: 443), serverName: "localhost", context: wire.client)
        endpoint.proxy = Proxy(HostPort(host: "127.0.0.1", port: port))
        let stream = try await SecureStream.connect(to: endpoint, on: reactor, until: .soon)
        try await stream.send(Array("hello".utf8))
        _ = await stream.shutdown(until: .now + .milliseconds(50))
    }

    private static func readHead(_ socket: StreamSocket) async throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) { head += try await socket.readAll(upTo: 1) }
        return String(decoding: head, as: UTF8.self)
    }
}
