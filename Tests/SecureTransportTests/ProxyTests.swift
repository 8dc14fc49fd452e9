import LinuxIO
import TestSupport
import Testing

@testable import SecureTransport

/// How proxies are written, and what is said to them.
struct ProxyTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example:3128"), ("http://proxy.example:3128/", "proxy.example:3128"),
        ("http://[::1]:8080", "[::1]:8080"), ("http://me:secret@10.0.0.1:80", "me@10.0.0.1:80"),
        ("http://me@10.0.0.1:80", "me@10.0.0.1:80"), ("http://m%40e:p%3a%2f@h:1", "m@e@h:1"),
        ("http://me:p@ss@h:1", "me@h:1"),
    ])
    func `a proxy is read from its URL, and prints without the password`(url: String, printed: String) throws {
        #expect(try Proxy(url: url).description == printed)
    }

    @Test(arguments: [
        "", "proxy.example:3128", "https://h:1", "http://h", "http://h:0", "http://h:x", "http://:1", "http://h:1/path",
        "http://a b:1", "http://@h:1", "http://u%:p@h:1", "http://u%2:p@h:1", "http://u%+1:p@h:1", "http://u%3A:p@h:1",
        "http://u%0D%0A:p@h:1", "http://u%FF:p@h:1", "http://h\r\n:1",
        "http://u:p%0A@h:1", "http://ü:1", "http://h%20:1",
    ])
    func `what names no proxy is told, without what was written`(url: String) throws {
        let fault = try #require(throws: Proxy.Fault.self) { try Proxy(url: url) }
        #expect(fault.hint.contains("http://user:password@host:port") && !fault.message.contains("http://"))
    }

    @Test func `a login is told by the scheme Basic`() throws {
        let proxy = try Proxy(url: "http://Aladdin:open%20sesame@h:1")
        let request = proxy.request(for: HostPort(host: "api.push.apple.com", port: 443))
        #expect(
            String(decoding: request, as: UTF8.self) == """
                CONNECT api.push.apple.com:443 HTTP/1.1\r
                Host: api.push.apple.com:443\r
                Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r
                \r

                """)
    }

    @Test(arguments: [("a", "YTo="), ("ab", "YWI6"), ("abc", "YWJjOg==")])
    func `base64 is padded`(user: String, text: String) {
        let proxy = Proxy(HostPort(host: "h", port: 1), login: .init(user: user, password: []))
        let request = proxy.request(for: HostPort(host: "::1", port: 2))
        #expect(String(decoding: request, as: UTF8.self).contains("Basic \(text)\r\n\r\n"))
    }

    @Test func `nobody logs in without a login`() {
        let request = Proxy(HostPort(host: "h", port: 1)).request(for: HostPort(host: "::1", port: 2))
        #expect(String(decoding: request, as: UTF8.self) == "CONNECT [::1]:2 HTTP/1.1\r\nHost: [::1]:2\r\n\r\n")
    }

    @Test func `a password shows nowhere, but another one makes another proxy`() throws {
        let proxy = try Proxy(url: "http://me:hunter2@h:1")
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("hunter2") && !String(reflecting: proxy).contains("hunter2"))
        #expect(!dumped.contains("digest"))
        #expect(try proxy == Proxy(url: "http://me:hunter2@h:1") && proxy != Proxy(url: "http://me:hunter3@h:1"))
        #expect(try proxy != Proxy(url: "http://h:1"))
    }
}

/// What proxies answer.
struct ProxyAnswerTests {
    private func state(_ text: String, piece: Int = .max) -> ProxyAnswer.State {
        var answer = ProxyAnswer()
        var rest = Array(text.utf8)[...]
        var state = ProxyAnswer.State.incomplete
        while state == .incomplete, !rest.isEmpty {
            state = answer.receive(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        return state
    }

    @Test(arguments: [
        ("HTTP/1.1 200 Connection established\r\n\r\n", ProxyAnswer.State.open(rest: [])),
        ("HTTP/1.0 200\nA: b\n\n", .open(rest: [])), ("HTTP/1.1 204 \r\nA: b\r\n\r\n", .open(rest: [])),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .open(rest: [])),
        ("HTTP/1.1 407 Login\r\nA: b\r\n\r\nbody", .refused(status: 407, reason: "Login")),
        ("HTTP/1.1 503\r\n\r\n", .refused(status: 503, reason: "")),
        ("HTTP/1.1 502 \u{1B}[2J\u{7}no\r\n\r\n", .refused(status: 502, reason: "[2Jno")),
        ("HTTP/1.1 200 OK\r\nA: b\r\n", .incomplete), ("HTT", .incomplete), ("", .incomplete),
        ("220 mail.example ESMTP\r\n", .notHTTP), ("HTTP/1.1\r\n\r\n", .notHTTP), ("HTTP/1.1 20 OK\r\n\r\n", .notHTTP),
        ("HTTP/1.1 2000 OK\r\n\r\n", .notHTTP), ("HTTP/1.1 -20 OK\r\n\r\n", .notHTTP),
    ])
    func `an answer is read the same however it comes`(text: String, expected: ProxyAnswer.State) {
        for piece in [Int.max, 7, 1] {
            #expect(state(text, piece: piece) == expected, "in pieces of \(piece)")
        }
    }

    @Test func `what comes behind the head is kept`() {
        #expect(state("HTTP/1.1 200 OK\r\n\r\n\u{16}\u{3}\u{1}") == .open(rest: [0x16, 3, 1]))
    }

    @Test func `a head has an end`() {
        let long = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "b", count: 8192)
        #expect(state(long) == .tooLong && state(long, piece: 100) == .tooLong)
        #expect(state(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1_000)) == .tooLong)
    }

    @Test func `no bytes trap the reader`() {
        let good = Array("HTTP/1.1 100 X\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nrest".utf8)
        for seed in UInt64(0)..<3_000 {
            var random = SeededGenerator(seed: seed)
            var bytes = good
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            var answer = ProxyAnswer()
            let state = answer.receive(bytes[..<Int.random(in: 0...bytes.count, using: &random)])
            if case .refused(_, let reason) = state { #expect(reason.utf8.count <= 60, "seed \(seed)") }
            #expect(state != .tooLong, "seed \(seed)")
        }
    }
}
