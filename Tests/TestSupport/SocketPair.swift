import Glibc
package import LinuxIO

/// Two sockets connected to each other, on one reactor.
package struct SocketPair {
    /// One end.
    package let one: StreamSocket
    /// The other end.
    package let other: StreamSocket

    /// An AF_UNIX pair.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(on reactor: Reactor) throws {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw SystemError.last("socketpair") }
        let first = Descriptor(adopting: numbers[0])
        let second = Descriptor(adopting: numbers[1])
        one = try StreamSocket(adopting: first, on: reactor)
        other = try StreamSocket(adopting: second, on: reactor)
    }

    /// A TCP connection over loopback; `one` has connected, `other` was accepted.
    ///
    /// - Throws: `SystemError`, `ConnectError`: loopback is not to be had.
    package static func overTCP(on reactor: Reactor) async throws -> SocketPair {
        let listener = try Listener(on: .loopback(), reactor: reactor)
        let one = try await StreamSocket.connect(to: listener.address, on: reactor, until: .now + .seconds(60))
        guard let other = try await listener.accept(until: .now + .seconds(60)) else {
            throw SystemError.timedOut("accept")
        }
        return SocketPair(one: one, other: other)
    }

    private init(one: StreamSocket, other: StreamSocket) {
        self.one = one
        self.other = other
    }
}

extension StreamSocket {
    /// Writes all of `bytes`, waiting for room.
    ///
    /// - Throws: `SystemError`: the connection broke, or sixty seconds have passed.
    package func writeAll(_ bytes: [UInt8]) async throws {
        guard try await writeAll(bytes, until: .now + .seconds(60)) else { throw SystemError.timedOut("write") }
    }

    /// Reads until the peer's stream ends, or until `count` bytes have come.
    ///
    /// - Throws: `SystemError`: the connection broke, or sixty seconds have passed without a byte.
    package func readAll(upTo count: Int = .max) async throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while all.count < count {
            switch try read(into: &buffer) {
            case .bytes(let count): all.append(contentsOf: buffer[..<count])
            case .closed: return all
            case .wouldBlock:
                let found = await waiter.wait(for: .readable, until: .now + .seconds(60))
                if found.contains(.timedOut) { throw SystemError.timedOut("read") }
            }
        }
        return all
    }
}
