import ServiceProcess
import TestSupport
import Testing

/// Requests for metrics.
struct ScrapeRequestTests {
    private static func answer(_ text: String) -> ScrapeRequest.Answer? {
        var request = ScrapeRequest()
        return request.receive(text.utf8)
    }

    @Test(
        arguments: [
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", .success(.metrics)),
            ("GET /metrics HTTP/1.0\r\n\r\n", .success(.metrics)),
            ("GET /metrics?name[]=x HTTP/1.1\r\n\r\n", .success(.metrics)),
            ("GET /metrics HTTP/1.1\r\nX: y\r\n\r\nGET / HTTP/1.1\r\n\r\n", .success(.metrics)),
            ("GET /livez HTTP/1.1\r\n\r\n", .success(.live)),
            ("GET /readyz?verbose HTTP/1.1\r\n\r\n", .success(.ready)),
            ("POST /readyz HTTP/1.1\r\n\r\n", .failure(.methodNotAllowed)),
            ("GET / HTTP/1.1\r\n\r\n", .failure(.notFound)), ("GET /metrics/ HTTP/1.1\r\n\r\n", .failure(.notFound)),
            ("GET /Metrics HTTP/1.1\r\n\r\n", .failure(.notFound)), ("POST / HTTP/1.1\r\n\r\n", .failure(.notFound)),
            ("POST /metrics HTTP/1.1\r\n\r\n", .failure(.methodNotAllowed)),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", .failure(.methodNotAllowed)),
            ("get /metrics HTTP/1.1\r\n\r\n", .failure(.methodNotAllowed)),
            ("GET /metrics HTTP/2.0\r\n\r\n", .failure(.versionNotSupported)),
            ("GET /metrics HTTP/1.12\r\n\r\n", .failure(.versionNotSupported)),
            ("GET /metrics\r\n\r\n", .failure(.badRequest)),
            ("\r\n\r\n", .failure(.badRequest)), ("GET  /metrics HTTP/1.1\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics TTP/1.1\r\n\r\n", .failure(.badRequest)),
            ("GET /met\u{7F}rics HTTP/1.1\r\n\r\n", .failure(.badRequest)),
            ("GET http://localhost:9/metrics?x HTTP/1.1\r\nHost: y\r\n\r\n", .success(.metrics)),
            ("GET HTTP://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n", .failure(.notFound)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics HTTP/1.1\r\nHost : a\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics HTTP/1.1\r\nHost: a\0b\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics HTTP/1.1\nHost: a\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics HTTP/1.1\r\n: a\r\n\r\n", .failure(.badRequest)),
            ("G\u{E4}T /metrics HTTP/1.1\r\n\r\n", .failure(.badRequest)),
            ("GET /metrics HTTP/1.1\n\nX\r\n\r\n", .failure(.badRequest)),
        ] as [(String, ScrapeRequest.Answer)])
    func `a request is answered by its first line, if its fields are sound`(text: String, answer: ScrapeRequest.Answer)
    {
        #expect(Self.answer(text) == answer)
    }

    @Test(arguments: ["", "GET /metrics HTTP/1.1", "GET /metrics HTTP/1.1\r\nA: b\r\n\r", "\r\n\n\r\n"])
    func `a head that has not ended is waited for`(text: String) {
        #expect(Self.answer(text) == nil)
    }

    @Test func `the pieces that it comes in do not matter`() {
        let text = Array("GET /metrics HTTP/1.1\r\nA: \r\nB: \r\n\r\n".utf8)
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var (request, offset, answer) = (ScrapeRequest(), 0, ScrapeRequest.Answer?.none)
            while offset < text.count {
                #expect(answer == nil, "seed \(seed)")
                let end = Int.random(in: offset...text.count, using: &random)
                answer = request.receive(text[offset..<end])
                offset = end
            }
            #expect(answer == .success(.metrics), "seed \(seed)")
        }
    }

    @Test func `no head is longer than it may be`() {
        let line = "GET /metrics HTTP/1.1\r\nX:"
        let fill = String(repeating: "x", count: ScrapeRequest.headByteLimit - line.utf8.count - 4)
        #expect(Self.answer(line + fill + "\r\n\r\n") == .success(.metrics))
        #expect(Self.answer(line + fill + "x\r\n\r\n") == .failure(.headTooLong))
        #expect(Self.answer(String(repeating: "x", count: 1 << 20)) == .failure(.headTooLong))
    }

    @Test func `random bytes are answered or waited for`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            var request = ScrapeRequest()
            let alphabet: [UInt8] = Array("GET /metrics HTTP/1.1\r\n".utf8) + [0, 255]
            let bytes = (0..<400).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            let answer = request.receive(bytes)
            #expect(answer == nil || answer != .success(.metrics), "seed \(seed)")
        }
    }

    @Test(arguments: ScrapeRequest.Page.allCases, [true, false])
    func `a page says how long it is, and ends the connection`(page: ScrapeRequest.Page, isGood: Bool) {
        let content = ScrapeRequest.Content(Array("x 1\n".utf8), isGood: isGood)
        let text = String(decoding: ScrapeRequest.response(page, content), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(isGood ? 200 : 503) ") && text.hasSuffix("\r\n\r\nx 1\n"))
        #expect(text.contains("\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"))
        #expect(text.contains("version=0.0.4") == (page == .metrics))
    }

    @Test(arguments: ScrapeRequest.Fault.allCases)
    func `a request without a page gets its status, and no content`(fault: ScrapeRequest.Fault) {
        let text = String(decoding: ScrapeRequest.response(fault), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(fault.rawValue) ") && text.hasSuffix("\r\n\r\n"))
        #expect(text.contains("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
        #expect(text.contains("Allow: GET") == (fault == .methodNotAllowed))
    }
}
