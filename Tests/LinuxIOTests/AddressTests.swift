import LinuxIO
import TestSupport
import Testing

struct AddressTests {
    @Test(arguments: ["127.0.0.1:2195", "[::1]:443", "[2001:db8::7]:65535", "0.0.0.0:0"])
    func `an address prints as it was read`(text: String) {
        #expect(SocketAddress(text)?.description == text)
    }

    @Test(arguments: [
        "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "::1:443", "[::1]", "[::1",
        "localhost:1", ":1", "[]:1", "[::1]443", "127.0.0.1:+1", "127.0.0.1:1 ",
    ])
    func `what is no address with a port is refused`(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.9:1", true), ("[::1]:1", true), ("0.0.0.0:1", false), ("[::]:1", false),
        ("128.0.0.1:1", false), ("[::ffff:127.0.0.1]:1", false), ("[2001:db8::1]:1", false),
    ])
    func `only this host reaches a loopback address`(text: String, isLoopback: Bool) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        ("gateway.example:2195", "gateway.example", 2195), ("[::1]:443", "::1", 443), ("[::1]", "::1", 7),
        ("gateway.example", "gateway.example", 7),
    ])
    func `a host may come without its port where there is a default`(text: String, host: String, port: Int) {
        #expect(HostPort(text, defaultPort: 7) == HostPort(host: host, port: UInt16(port)))
    }

    @Test(arguments: [
        ("api.push.apple.com", true), ("push_1.example", true), ("10.0.0.1", true), ("::1", true),
        ("fe80::1%eth0", true),
        ("::ffff:10.0.0.1", true), ("xn--mller-kva.example", true), ("", false), (" h", false), ("h ", false),
        ("h\r\n", false), ("müller.example", false), ("h:443", false), ("user@h", false), ("h/path", false),
        ("[::1]", false), ("fe80::1%e 0", false), ("::g", false),
    ])
    func `a host has what a header field, a request line and TLS can carry`(text: String, isHost: Bool) {
        #expect(HostPort.isHost(text) == isHost)
        if !isHost, !text.contains(":") { #expect(HostPort(text, defaultPort: 7) == nil) }
    }

    @Test func `localhost is this host`() async throws {
        let addresses = try await onReactor { reactor in
            try await AddressLookup.addresses(
                of: HostPort(host: "localhost", port: 99), on: reactor, until: .now + .seconds(60))
        }
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0.host) && $0.port == 99 })
    }

    @Test func `all who ask for a host at the same time get its addresses, each on its own reactor`() async throws {
        let counts = try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    try await onReactor { reactor in
                        try await AddressLookup.addresses(
                            of: HostPort(host: "localhost", port: 98), on: reactor, until: .now + .seconds(60)
                        ).count
                    }
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(counts.count == 20 && !counts.contains(0))
    }

    @Test func `a numeric host is not looked up`() async throws {
        let addresses = try await onReactor { reactor in
            try await AddressLookup.addresses(of: HostPort(host: "::1", port: 5), on: reactor, until: .now)
        }
        #expect(addresses.map(\.description) == ["[::1]:5"])
    }

    @Test func `a name that cannot be is not found`() async throws {
        let error = await #expect(throws: LookupError.self) {
            try await onReactor { reactor in
                _ = try await AddressLookup.addresses(
                    of: HostPort(host: "no such name", port: 1), on: reactor, until: .now + .seconds(60))
            }
        }
        #expect(error?.description.hasPrefix("cannot look up no such name: ") == true)
    }
}
