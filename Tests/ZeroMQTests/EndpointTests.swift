import LinuxIO
import TestSupport
import Testing
import ZeroMQ

struct EndpointTests {
    @Test(arguments: ["tcp://127.0.0.1:0", "tcp://127.0.0.1:*", "tcp://[::1]:0"])
    func `a free port is found and told`(endpoint: String) async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: endpoint, reactor: reactor)
            let address = try #require(SocketAddress(String(socket.endpoint.dropFirst("tcp://".count))))
            #expect(address.port != 0)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send([1])
            #expect(try await socket.nextRequest().bytes == [1])
        }
    }

    @Test(arguments: [
        "", "127.0.0.1:12195", "udp://127.0.0.1:12195", "inproc://door", "pgm://127.0.0.1:1", "tcp://",
        "tcp://127.0.0.1",
        "tcp://127.0.0.1:", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:a", "tcp://127.0.0.1:+1", "ipc://", "ipc://door",
        "ipc://@door", "ipc:///folder/",
        "ipc:///" + String(repeating: "a", count: 120),
    ])
    func `what is no endpoint is refused with a remedy`(endpoint: String) async throws {
        try await onReactor { reactor in
            let error = #expect(throws: ReplySocketError.self) { _ = try ReplySocket(on: endpoint, reactor: reactor) }
            #expect(error?.cause.name == "EINVAL" && error?.cause.subject == endpoint)
            #expect(error?.hint?.hasPrefix("write tcp://ADDRESS:PORT") == true)
        }
    }

    @Test func `a port that another has is refused`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let error = #expect(throws: ReplySocketError.self) {
                _ = try ReplySocket(on: socket.endpoint, reactor: reactor)
            }
            let reason = "Address already in use (EADDRINUSE)"
            let hint = "stop the program that listens there, or choose another endpoint"
            #expect(error?.description == "zmq_bind \(socket.endpoint): \(reason); \(hint)")
        }
    }

    @Test(arguments: [("tcp://192.0.2.1:12195", "EADDRNOTAVAIL"), ("tcp://localhost:12195", "ENODEV")])
    func `an address of another host and a name are refused`(endpoint: String, name: String) async throws {
        try await onReactor { reactor in
            let error = #expect(throws: ReplySocketError.self) { _ = try ReplySocket(on: endpoint, reactor: reactor) }
            #expect(error?.cause.name == name && error?.hint != nil)
        }
    }

    @Test func `a local socket has the rights that were asked for, and goes with the socket`() async throws {
        let folder = try TemporaryDirectory()
        try await onReactor { reactor in
            do {
                var options = ReplySocket.Options()
                options.access.mode = 0o600
                let socket = try ReplySocket(on: "ipc://\(folder.path)/door", options: options, reactor: reactor)
                let status = try folder.directory.status(of: Array("door".utf8))
                #expect(status?.kind == .socket && status?.mode == 0o600)
                let client = HandmadeClient(
                    try LocalListener.connect(to: folder.path + "/door", on: reactor))
                try await client.greet()
                try await client.send([1])
                #expect(try await socket.reply([2]) == [1])
                #expect(try await client.reply() == [2])
            }
            #expect(try folder.directory.names().isEmpty)
        }
    }

    @Test func `neither a file nor a socket in use is replaced`() async throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put("file", "kept")
        try await onReactor { reactor in
            let listener = try LocalListener(at: folder.path + "/used", mode: 0o600, reactor: reactor)
            for name in ["file", "used"] {
                let error = #expect(throws: ReplySocketError.self) {
                    _ = try ReplySocket(on: "ipc://\(folder.path)/\(name)", reactor: reactor)
                }
                #expect(error?.cause.name == "EADDRINUSE", "\(name)")
            }
            #expect(try folder.directory.text("file") == "kept")
            listener.waiter.wake()
        }
    }

    @Test func `a socket that was left behind is replaced`() async throws {
        let folder = try TemporaryDirectory()
        try await onReactor { reactor in
            do {
                let left = try LocalListener(at: folder.path + "/first", mode: 0o600, reactor: reactor)
                try folder.directory.rename(Array("first".utf8), to: folder.directory, replacing: Array("door".utf8))
                left.waiter.wake()
            }
            let socket = try ReplySocket(on: "ipc://\(folder.path)/door", reactor: reactor)
            #expect(socket.endpoint == "ipc://\(folder.path)/door")
        }
    }

    @Test func `a folder that is missing is named`() async throws {
        try await onReactor { reactor in
            let error = #expect(throws: ReplySocketError.self) {
                _ = try ReplySocket(on: "ipc:///nonexistent/door", reactor: reactor)
            }
            #expect(error?.cause.name == "ENOENT" && error?.hint == "make the folder of the socket")
        }
    }
}
