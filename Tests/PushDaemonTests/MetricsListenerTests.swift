import LinuxIO
import Logging
import ServiceProcess
import SpoolModel
import Synchronization
import TestSupport
import Testing

@testable import Configuration
@testable import PushDaemon

/// The answers over HTTP, without a daemon.
@Suite(.timeLimit(.minutes(10))) struct MetricsListenerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Sends a request in pieces, and returns what comes back until the end.
    private static func answer(
        to pieces: [String], closing: Bool = false, text: String = "x 1\n"
    ) async throws -> String {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/metrics.sock"
        return try await onReactor { reactor in
            let listener = MetricsListener(at: .local(path: path), on: reactor, logger: logger) {
                $0 == .metrics ? .init(Array(text.utf8)) : .init(Array($0.rawValue.utf8), isGood: $0 == .live)
            }
            // Not in a group: its body would not stay on the reactor.
            let serving = Task { try await listener.run() }
            defer { serving.cancel() }
            let answer = try await ask(pieces, closing: closing, at: path, on: reactor)
            serving.cancel()
            _ = await serving.result
            return answer
        }
    }

    /// Sends a request in pieces as soon as somebody listens; on the reactor.
    private static func ask(
        _ pieces: [String], closing: Bool = false, at path: String, on reactor: Reactor
    ) async throws -> String {
        var connected = try? LocalListener.connect(to: path, on: reactor)
        while connected == nil {
            try await reactor.sleep(for: .milliseconds(2))
            connected = try? LocalListener.connect(to: path, on: reactor)
        }
        let socket = try #require(connected)
        for piece in pieces { try await socket.writeAll(Array(piece.utf8)) }
        if closing { socket.shutdownWrite() }
        return String(decoding: try await socket.readAll(), as: UTF8.self)
    }

    /// Asks for the metrics in a task of its own.
    private static func scraping(at path: String, on reactor: Reactor) -> Task<String, any Error> {
        Task {
            try await ReactorHost(reactor).run { reactor in
                try await ask(["GET /metrics HTTP/1.1\r\n\r\n"], at: path, on: reactor)
            }
        }
    }

    @Test func `however many ask, a text is made once a second at most, and then it is a new one`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/metrics.sock"
        let count = TextCount()
        try await onReactor { reactor in
            let listener = MetricsListener(at: .local(path: path), on: reactor, logger: Self.logger) { _ in
                let number = count.next()
                // Others ask meanwhile.
                try? await reactor.sleep(for: .milliseconds(20))
                return .init(Array("x \(number)\n".utf8))
            }
            let serving = Task { try await listener.run() }
            defer { serving.cancel() }
            let start = ContinuousClock.now
            for _ in 0..<5 {
                let scrapes = (0..<6).map { _ in Self.scraping(at: path, on: reactor) }
                for scrape in scrapes { #expect(try await scrape.value.contains("\r\n\r\nx ")) }
            }
            let seconds = (ContinuousClock.now - start).components.seconds
            let made = count.current
            #expect(made >= 1 && made <= Int(seconds) + 1, "\(made) in \(seconds) s")
            try await reactor.sleep(for: .milliseconds(1_010))
            let later = try await Self.scraping(at: path, on: reactor).value
            #expect(later.hasSuffix("\r\n\r\nx \(made + 1)\n"), "\(later)")
            serving.cancel()
            _ = await serving.result
        }
    }

    @Test func `a request in pieces is answered with the text, and the connection ends`() async throws {
        let text = String(repeating: "pushspool_x 1\n", count: 200_000)
        let answer = try await Self.answer(to: ["GET /met", "rics HTTP/1.1\r\n", "\r\n"], text: text)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n" + text))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 404), ("DELETE /metrics HTTP/1.1\r\n\r\n", 405), ("nonsense\r\n\r\n", 400),
    ])
    func `what is not asked for is not given`(request: String, status: Int) async throws {
        let answer = try await Self.answer(to: [request])
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && !answer.contains("x 1"))
    }

    @Test(arguments: [("/livez", "200 OK"), ("/readyz", "503 Service Unavailable")])
    func `a probe is answered by its status`(path: String, status: String) async throws {
        let answer = try await Self.answer(to: ["GET \(path) HTTP/1.1\r\n\r\n"])
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n") && answer.hasSuffix("\r\n\r\n\(path)"))
    }

    @Test func `connections without a request do not keep others out`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/metrics.sock"
        try await onReactor { reactor in
            let listener = MetricsListener(at: .local(path: path), on: reactor, logger: Self.logger) { _ in
                .init(Array("x 1\n".utf8))
            }
            let serving = Task { try await listener.run() }
            defer { serving.cancel() }
            var answer = try await Self.ask(["GET /metrics HTTP/1.1\r\n\r\n"], at: path, on: reactor)
            #expect(answer.hasSuffix("x 1\n"))
            let start = ContinuousClock.now
            let idle = try (0..<100).map { _ in try LocalListener.connect(to: path, on: reactor) }
            answer = try await Self.ask(["GET /metrics HTTP/1.1\r\n\r\n"], at: path, on: reactor)
            // If each were waited for, it would take a minute.
            #expect(answer.hasSuffix("x 1\n") && start.duration(to: .now) < .seconds(40))
            withExtendedLifetime(idle) {}
            serving.cancel()
            _ = await serving.result
        }
    }

    @Test func `what comes behind a request does not take the answer away`() async throws {
        let more = String(repeating: "more ", count: 8_000)
        let answer = try await Self.answer(to: ["GET /metrics HTTP/1.1\r\n\r\n" + more])
        #expect(answer.hasSuffix("x 1\n"))
    }

    @Test func `a request that ends too early gets no answer`() async throws {
        let answer = try await Self.answer(to: ["GET /metrics HTTP/1.1\r\n"], closing: true)
        #expect(answer == "")
    }

    @Test(arguments: ["127.0.0.1:9469", "[::1]:1", "127.9.9.9:65535", "unix:/run/x.sock"])
    func `a place on this host is taken as it is written`(text: String) throws {
        #expect(try MetricsPlace(parsing: text, isPublic: false).description == text)
    }

    @Test(arguments: ["0.0.0.0:9469", "[::]:1", "192.0.2.1:1", "127.0.0.1:9469", "unix:/run/x.sock"])
    func `any address is taken from an operator who says that it is public`(text: String) throws {
        #expect(try MetricsPlace(parsing: text, isPublic: true).description == text)
    }

    @Test(arguments: ["0.0.0.0:0", "0.0.0.0", "metrics.example:9469", "unix:metrics.sock", ""])
    func `public does not make a place of what is none`(text: String) {
        #expect(throws: (any Error).self) { _ = try MetricsPlace(parsing: text, isPublic: true) }
    }

    @Test(arguments: [
        ("", "is not an address"), ("9469", "is not an address"), ("localhost:9469", "is not an address"),
        ("127.0.0.1", "is not an address"),
        ("0.0.0.0:9469", "not a loopback"), ("[::]:1", "not a loopback"), ("192.0.2.1:1", "not a loopback"),
        ("127.0.0.1:0", "port is missing"), ("unix:metrics.sock", "must be absolute"), ("unix:", "must be absolute"),
        ("unix:/run/", "must be absolute"), ("unix:/" + String(repeating: "x", count: 107), "108 bytes"),
    ])
    func `any other place is refused, with what would be right`(text: String, words: String) throws {
        let fault = #expect(throws: (any Error).self) { _ = try MetricsPlace(parsing: text, isPublic: false) }
        #expect(String(describing: fault).contains(words), "\(String(describing: fault))")
    }
}

/// How many texts were made.
private final class TextCount: Sendable {
    private let count = Mutex(0)

    var current: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
