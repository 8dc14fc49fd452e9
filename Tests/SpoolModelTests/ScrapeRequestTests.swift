import SpoolModel
import TestSupport
import Testing

/// Requests for metrics.
struct ScrapeRequestTests {
    private static func answer(_ text: String) -> ScrapeRequest.Answer? {
        var request = ScrapeRequest()
        return request.take(text.utf8)
    }

    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", ScrapeRequest.Answer.metrics),
        ("GET /metrics HTTP/1.0\r\n\r\n", .metrics), ("GET /metrics?name[]=x HTTP/1.1\r\n\r\n", .metrics),
        ("GET /metrics HTTP/1.1\r\nX: y\r\n\r\nGET / HTTP/1.1\r\n\r\n", .metrics),
        ("GET / HTTP/1.1\r\n\r\n", .notFound), ("GET /metrics/ HTTP/1.1\r\n\r\n", .notFound),
        ("GET /Metrics HTTP/1.1\r\n\r\n", .notFound), ("POST / HTTP/1.1\r\n\r\n", .notFound),
        ("POST /metrics HTTP/1.1\r\n\r\n", .methodNotAllowed), ("HEAD /metrics HTTP/1.1\r\n\r\n", .methodNotAllowed),
        ("get /metrics HTTP/1.1\r\n\r\n", .methodNotAllowed), ("GET /metrics HTTP/2.0\r\n\r\n", .versionNotSupported),
        ("GET /metrics HTTP/1.12\r\n\r\n", .versionNotSupported), ("GET /metrics\r\n\r\n", .badRequest),
        ("\r\n\r\n", .badRequest), ("GET  /metrics HTTP/1.1\r\n\r\n", .badRequest),
        ("GET /metrics TTP/1.1\r\n\r\n", .badRequest), ("GET /met\u{7F}rics HTTP/1.1\r\n\r\n", .badRequest),
        ("G\u{E4}T /metrics HTTP/1.1\r\n\r\n", .badRequest), ("GET /metrics HTTP/1.1\n\nX\r\n\r\n", .badRequest),
    ])
    func `a request is answered by its first line`(text: String, answer: ScrapeRequest.Answer) {
        #expect(Self.answer(text) == answer)
    }

    @Test(arguments: ["", "GET /metrics HTTP/1.1", "GET /metrics HTTP/1.1\r\nA: b\r\n\r", "\r\n\n\r\n"])
    func `a head that has not ended is waited for`(text: String) {
        #expect(Self.answer(text) == nil)
    }

    @Test func `the pieces that it comes in do not matter`() {
        let text = Array("GET /metrics HTTP/1.1\r\nA: \r\r\n\r\r\n\r\n".utf8)
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var (request, offset, answer) = (ScrapeRequest(), 0, ScrapeRequest.Answer?.none)
            while offset < text.count {
                #expect(answer == nil, "seed \(seed)")
                let end = Int.random(in: offset...text.count, using: &random)
                answer = request.take(text[offset..<end])
                offset = end
            }
            #expect(answer == .metrics, "seed \(seed)")
        }
    }

    @Test func `no head is longer than it may be`() {
        let line = "GET /metrics HTTP/1.1\r\n"
        let fill = String(repeating: "x", count: ScrapeRequest.headByteLimit - line.utf8.count - 4)
        #expect(Self.answer(line + fill + "\r\n\r\n") == .metrics)
        #expect(Self.answer(line + fill + "x\r\n\r\n") == .headTooLong)
        #expect(Self.answer(String(repeating: "x", count: 1 << 20)) == .headTooLong)
    }

    @Test func `random bytes are answered or waited for`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            var request = ScrapeRequest()
            let alphabet: [UInt8] = Array("GET /metrics HTTP/1.1\r\n".utf8) + [0, 255]
            let bytes = (0..<400).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            let answer = request.take(bytes)
            #expect(answer == nil || answer != .metrics, "seed \(seed)")
        }
    }

    @Test(arguments: ScrapeRequest.Answer.allCases)
    func `a response says how long it is, and ends the connection`(answer: ScrapeRequest.Answer) {
        let text = String(decoding: ScrapeRequest.response(answer, metrics: Array("x 1\n".utf8)), as: UTF8.self)
        let body = answer == .metrics ? "x 1\n" : ""
        #expect(text.hasPrefix("HTTP/1.1 \(answer.rawValue) ") && text.hasSuffix("\r\n\r\n\(body)"))
        #expect(text.contains("\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"))
        #expect(text.contains("version=0.0.4") == (answer == .metrics))
        #expect(text.contains("Allow: GET") == (answer == .methodNotAllowed))
    }
}
