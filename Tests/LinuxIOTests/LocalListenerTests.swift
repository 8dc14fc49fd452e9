import LinuxIO
import TestSupport
import Testing

struct LocalListenerTests {
    private static func path(in folder: TemporaryDirectory) -> String { folder.path + "/door" }

    @Test func `who connects is heard and answered`() async throws {
        let folder = try TemporaryDirectory()
        try await onReactor { reactor in
            let listener = try LocalListener(at: Self.path(in: folder), mode: 0o600, reactor: reactor)
            let client = try LocalListener.connect(to: Self.path(in: folder), on: reactor)
            let server = try #require(try await listener.accept(until: .now + .seconds(60)))
            try await client.writeAll([1, 2, 3])
            #expect(try await server.readAll(upTo: 3) == [1, 2, 3])
            try await server.writeAll([4])
            server.shutdownWrite()
            #expect(try await client.readAll() == [4])
        }
    }

    @Test func `the name has the rights that were asked for, and goes with the listener`() async throws {
        let folder = try TemporaryDirectory()
        try await onReactor { reactor in
            do {
                let listener = try LocalListener(at: Self.path(in: folder), mode: 0o660, reactor: reactor)
                let status = try #require(try folder.directory.status(of: Array("door".utf8)))
                #expect(status.kind == .socket && status.mode == 0o660)
                #expect(try await listener.accept(until: .now + .milliseconds(5)) == nil)
            }
            #expect(try folder.directory.names().isEmpty)
        }
    }

    @Test func `a name on which somebody listens is not taken`() async throws {
        let folder = try TemporaryDirectory()
        try await onReactor { reactor in
            let listener = try LocalListener(at: Self.path(in: folder), mode: 0o600, reactor: reactor)
            let error = #expect(throws: SystemError.self) {
                _ = try LocalListener(at: Self.path(in: folder), mode: 0o600, reactor: reactor)
            }
            #expect(error?.name == "EADDRINUSE")
            _ = try LocalListener.connect(to: Self.path(in: folder), on: reactor)
            // What the refused one looked with came first.
            _ = try await listener.accept(until: .now + .seconds(60))
            #expect(try await listener.accept(until: .now + .seconds(60)) != nil)
        }
    }

    @Test func `a name that was left behind is taken over, and anything else is not`() async throws {
        let folder = try TemporaryDirectory()
        try await onReactor { reactor in
            do {
                // Under another name it is not removed, as after a kill.
                let left = try LocalListener(at: folder.path + "/first", mode: 0o600, reactor: reactor)
                try folder.directory.rename(
                    Array("first".utf8), to: folder.directory, replacing: Array("door".utf8))
                left.waiter.wake()
            }
            let refused = #expect(throws: SystemError.self) {
                _ = try LocalListener.connect(to: Self.path(in: folder), on: reactor)
            }
            #expect(refused?.isConnectionRefused == true)
            let listener = try LocalListener(at: Self.path(in: folder), mode: 0o600, reactor: reactor)
            _ = try LocalListener.connect(to: Self.path(in: folder), on: reactor)
            #expect(try await listener.accept(until: .now + .seconds(60)) != nil)
            try folder.directory.put("file", "kept")
            let error = #expect(throws: SystemError.self) {
                _ = try LocalListener(at: folder.path + "/file", mode: 0o600, reactor: reactor)
            }
            #expect(error?.name == "EADDRINUSE")
            #expect(try folder.directory.text("file") == "kept")
        }
    }

    @Test(arguments: [(107, true), (108, false)])
    func `a path has to fit`(byteCount: Int, fits: Bool) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/" + String(repeating: "x", count: byteCount - folder.path.utf8.count - 1)
        try await onReactor { reactor in
            if fits {
                _ = try LocalListener(at: path, mode: 0o600, reactor: reactor)
            } else {
                let error = #expect(throws: SystemError.self) {
                    _ = try LocalListener(at: path, mode: 0o600, reactor: reactor)
                }
                #expect(error?.name == "ENAMETOOLONG")
            }
        }
        #expect((byteCount <= LocalListener.pathByteLimit) == fits)
    }
}
