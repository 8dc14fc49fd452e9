import APNSModel
import Configuration
import DoorModel
import LinuxIO
import Logging
import MicroHTTPD
import ServiceProcess

/// The HTTP/1.1 server of a door on its reactor.
///
/// Not Sendable: belongs to the door's actor.
final class HTTPFront {
    /// Where it listens.
    let place: ListenPlace
    private let server: HTTPServer
    private let channel: Channel
    private let idle: Wakeup
    /// Removes the name of a local socket in the end.
    private var localSocket: LocalSocket?
    /// Whether each connection ends with its next answer.
    private(set) var isStopping = false

    /// How often slow clients are looked for while there are clients.
    private static let lookPause = Duration.seconds(1)

    /// Listens. Clients wait until `run`.
    ///
    /// - Throws: `SystemError`: the address is in use, or cannot be used; no descriptor left.
    init(at place: ListenPlace, connectionLimit: Int, on reactor: Reactor) throws(SystemError) {
        var limits = HTTPServer.Limits()
        limits.connections = connectionLimit
        let socket: Descriptor
        switch place {
        case .address(let address):
            let bound = try BoundSocket(address)
            (self.place, localSocket) = (.address(bound.address), nil)
            socket = bound.takeDescriptor()
        case .local(let path):
            let local = try LocalSocket(at: path, for: .init())
            (self.place, localSocket) = (place, local)
            socket = try local.duplicateDescriptor()
        }
        guard let server = HTTPServer(socket: socket.relinquish(), limits: limits) else {
            throw SystemError.last("MHD_start_daemon", place.description)
        }
        self.server = server
        let copy = server.duplicateDescriptor()
        guard copy >= 0 else { throw SystemError.last("fcntl", "F_DUPFD_CLOEXEC") }
        channel = try Channel(Descriptor(adopting: copy), on: reactor)
        idle = Wakeup(on: reactor)
    }

    deinit { localSocket?.removeName() }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - admit: Decides about a request whose head has arrived.
    ///   - take: Takes what happens.
    func run(admit: (HTTPRequest) -> HTTPServer.Admission, take: (HTTPServer.Event) -> Void) async {
        while !Task.isCancelled {
            server.run(at: Int(Moment.now.nanoseconds / 1_000_000_000), admit)
            let events = server.takeEvents()
            for event in events { take(event) }
            if isStopping, server.openConnectionCount == 0 { idle.signal() }
            if events.isEmpty {
                _ = await channel.waitUntilReadable(until: deadline)
            } else {
                // What was taken may have been answered at once. But others have their turn first, whatever clients send.
                await channel.waiter.yield()
            }
        }
    }

    private var deadline: ContinuousClock.Instant? {
        let pause = server.pause.map { Duration.milliseconds($0) }
        guard server.openConnectionCount > 0 else { return pause.map { (Moment.now + $0).instant } }
        return (Moment.now + min(pause ?? Self.lookPause, Self.lookPause)).instant
    }

    /// Answers a request.
    func answer(_ request: HTTPRequest, _ response: HTTPResponse) {
        server.answer(request, response)
        channel.waiter.wake()
    }

    /// Reads more of a body.
    func proceed(_ request: HTTPRequest) {
        server.proceed(request)
        channel.waiter.wake()
    }

    /// Continues the body of a stream.
    func send(_ bytes: [UInt8], isLast: Bool, on request: HTTPRequest) {
        server.send(bytes, isLast: isLast, on: request)
        channel.waiter.wake()
    }

    /// Ends the connection of a request in the middle of its answer.
    func breakOff(_ request: HTTPRequest) {
        server.breakOff(request)
        channel.waiter.wake()
    }

    /// Adds the figures of connections.
    func count(into counts: inout DoorCounts) {
        (counts.openConnectionCount, counts.connectionCount) = (server.openConnectionCount, server.connectionCount)
        counts.waitingCount = server.openRequestCount
    }

    // MARK: The end

    /// Takes no more connections, and lets each end with its next answer.
    func beginStopping() {
        isStopping = true
        server.beginStopping()
        // Its descriptor takes connections, too.
        localSocket?.removeName()
        localSocket = nil
        channel.waiter.wake()
    }

    /// Waits until all connections have ended, or the deadline.
    func awaitIdle(until deadline: ContinuousClock.Instant) async {
        while server.openConnectionCount > 0, .now < deadline, !Task.isCancelled {
            await idle.wait(until: min(deadline, .now + .seconds(1)))
        }
    }
}
