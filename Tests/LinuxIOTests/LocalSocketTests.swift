import Glibc
import LinuxIO
import TestSupport
import Testing

struct LocalSocketTests {
    private let folder: TemporaryDirectory
    private let name = Array("node.sock".utf8)

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Accepts one connection, and sends back what comes until it ends.
    private func echo(_ socket: LocalSocket) async throws -> PeerProcess? {
        try await onReactor { reactor in
            let connection = try #require(try await LocalListener(socket, on: reactor).accept())
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                switch try connection.read(into: &buffer) {
                case .bytes(let count): _ = try connection.write(buffer.span.extracting(..<count))
                case .closed: return connection.peerProcess
                case .wouldBlock: _ = await connection.waiter.wait(for: .readable)
                }
            }
        }
    }

    @Test func `both ends know the other's process`() async throws {
        let socket = try LocalSocket(name, in: folder.directory, for: .init())
        let path = folder.path
        async let served = echo(socket)
        let (reply, peer) = try await Task.detached {
            let client = try LocalConnection("node.sock", in: path)
            try client.write(Array("hello".utf8))
            return (try client.read(within: .seconds(60)), client.peer)
        }.value
        let seen = try await served
        #expect(reply == Array("hello".utf8))
        #expect(peer?.processID == Host.processID && peer?.userID == Host.userID)
        #expect(seen?.processID == Host.processID && seen?.userID == Host.userID)
    }

    @Test func `a process that accepts nothing is waited for a while only`() async throws {
        let socket = try LocalSocket(name, in: folder.directory, for: .init())
        let path = folder.path
        let error = await Task.detached { () -> SystemError? in
            var connections: [LocalConnection] = []
            do throws(SystemError) {
                // The kernel's queue is full before long.
                while connections.count < 10_000 {
                    connections.append(try LocalConnection("node.sock", in: path, patience: 1))
                }
                return nil
            } catch {
                return error
            }
        }.value
        #expect(error?.isTimeOut == true && error?.operation == "connect", "\(String(describing: error))")
        withExtendedLifetime(socket) {}
    }

    @Test func `a socket has the permissions that it is to have`() throws {
        let access = LocalSocket.Access(mode: 0o620, group: getegid())
        let socket = try LocalSocket(name, in: folder.directory, for: access)
        let status = try #require(try folder.directory.status(of: name))
        #expect(status.kind == .socket && status.mode == 0o620 && status.group == getegid())
        #expect(socket.path.hasSuffix("/node.sock"))
    }

    @Test func `a name that a process has left is answered by nobody`() throws {
        #expect(try !LocalSocket.isAnswered(name, in: folder.directory))
        var socket: LocalSocket? = try LocalSocket(name, in: folder.directory, for: .init())
        #expect(try LocalSocket.isAnswered(name, in: folder.directory))
        let taken = #expect(throws: SystemError.self) { _ = try LocalSocket(name, in: folder.directory, for: .init()) }
        #expect(taken?.name == "EADDRINUSE" && socket != nil)
        socket = nil
        #expect(try !LocalSocket.isAnswered(name, in: folder.directory))
        #expect(try folder.directory.status(of: name) != nil)
    }

    @Test func `what is no socket is not removed, nor what another has put in the place of one`() async throws {
        try folder.directory.put("node.sock", "file")
        try LocalSocket.removeLeftover(name, in: folder.directory)
        #expect(try folder.directory.text("node.sock") == "file")
        try folder.directory.unlink(name)
        let (directory, name) = (folder.directory, self.name)
        try await onReactor { reactor in
            let listener = try LocalListener(try LocalSocket(name, in: directory, for: .init()), on: reactor)
            try directory.unlink(name)
            try directory.put(name, Array("another".utf8))
            listener.waiter.wake()
        }
        #expect(try folder.directory.text("node.sock") == "another")
    }

    @Test func `a folder's path may be longer than a socket's address`() throws {
        var directory = folder.directory
        for _ in 0..<3 { directory = try directory.makeChild([UInt8](repeating: 0x78, count: 80), mode: 0o700) }
        let socket = try LocalSocket(name, in: directory, for: .init())
        #expect(socket.path.utf8.count > 240)
        #expect(try LocalSocket.isAnswered(name, in: directory))
        #expect(try LocalConnection("node.sock", in: directory.path).peer?.processID == Host.processID)
    }

    @Test func `who listens for nobody's commands is told so`() throws {
        let missing = #expect(throws: SystemError.self) { _ = try LocalConnection("node.sock", in: folder.path) }
        #expect(missing?.isNotFound == true)
        let other = #expect(throws: SystemError.self) { _ = try LocalConnection("x", in: folder.path + "/nowhere") }
        #expect(other?.isNotFound == true)
    }

    @Test func `a group is known by its name or number`() throws {
        #expect(try Host.groupID(of: "root") == 0)
        #expect(try Host.groupID(of: "4711") == 4711)
        #expect(try Host.groupID(of: "no-such-group-here") == nil)
    }

    @Test func `the end of a process is seen, or was before`() throws {
        #expect(try Host.awaitEnd(of: 0x3FFF_FFFF, within: .seconds(60)))
        #expect(try !Host.awaitEnd(of: Host.processID, within: .zero))
    }
}
