import Configuration
import DoorModel
import LinuxIO
import Logging
import MicroHTTPD
import PushModel
import ServiceProcess

/// The HTTP/1.1 server of a door on its reactor, and the requests that are being answered.
///
/// Not Sendable: belongs to the door's actor.
final class HTTPFront {
    /// What the door has done.
    var counts = DoorCounts()
    /// The longest body of a request, in bytes.
    let bodyLimit: Int
    /// Whether each connection ends with its next answer.
    private(set) var isStopping = false
    private let place: ListenPlace
    private let connectionLimit: Int
    private let reactor: Reactor
    private let idle: Wakeup
    private var port: Port?
    private var requests: [Int: HTTPRequest] = [:]
    private var budget = BodyBudget()

    /// What it has while it listens.
    private struct Port {
        let server: HTTPServer
        let channel: Channel
        /// Removes the name of a local socket in the end.
        var localSocket: LocalSocket?
    }

    /// How often slow clients are looked for while there are clients.
    private static let lookPause = Duration.seconds(1)

    /// Creates a server that listens nowhere yet.
    init(at place: ListenPlace, _ configuration: DoorConfiguration, on reactor: Reactor) {
        (self.place, self.reactor) = (place, reactor)
        (bodyLimit, connectionLimit) = (configuration.requestByteLimit, configuration.connectionLimit)
        idle = Wakeup(on: reactor)
    }

    deinit { port?.localSocket?.removeName() }

    /// Listens. Clients wait until `run`.
    ///
    /// - Returns: Where, with the port that the kernel chose.
    /// - Throws: `SystemError`: the address is in use, or cannot be used; no descriptor left.
    func listen() throws(SystemError) -> ListenPlace {
        var limits = HTTPServer.Limits()
        limits.connections = connectionLimit
        let (found, localSocket): (ListenPlace, LocalSocket?)
        let socket: Descriptor
        switch place {
        case .address(let address):
            let bound = try BoundSocket(address)
            (found, localSocket) = (.address(bound.address), nil)
            socket = bound.takeDescriptor()
        case .local(let path):
            let local = try LocalSocket(at: path, for: .init())
            (found, localSocket) = (place, local)
            socket = try local.duplicateDescriptor()
        }
        guard let server = HTTPServer(socket: socket.relinquish(), limits: limits) else {
            throw SystemError.last("MHD_start_daemon", place.description)
        }
        let copy = server.duplicateDescriptor()
        guard copy >= 0 else { throw SystemError.last("fcntl", "F_DUPFD_CLOEXEC") }
        let channel = try Channel(Descriptor(adopting: copy), on: reactor)
        port = Port(server: server, channel: channel, localSocket: localSocket)
        return found
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - admit: Decides about a request whose head has arrived. Returns how many bytes of its body are kept at a time.
    ///   - handle: Handles an event.
    func run(admit: (HTTPRequest) throws(APIProblem) -> Int, handle: (HTTPServer.Event) -> Void) async {
        guard let (server, channel) = port.map({ ($0.server, $0.channel) }) else { return }
        while !Task.isCancelled {
            server.run(at: Int(Moment.now.nanoseconds / 1_000_000_000)) { self.admission(of: $0, admit) }
            let events = server.takeEvents()
            for event in events {
                if case .ended(let request, _) = event {
                    budget.release(request.number)
                    requests[request.number] = nil
                }
                handle(event)
            }
            if isStopping, server.openConnectionCount == 0 { idle.signal() }
            if events.isEmpty {
                _ = await channel.waitUntilReadable(until: deadline(of: server))
            } else {
                // What was taken may have been answered at once. But others have their turn first, whatever clients send.
                await channel.waiter.yield()
            }
        }
    }

    private func admission(
        of request: HTTPRequest, _ admit: (HTTPRequest) throws(APIProblem) -> Int
    ) -> HTTPServer.Admission {
        counts.requestCount += 1
        do throws(APIProblem) {
            let byteCount = try admit(request)
            requests[request.number] = request
            return .read(limit: byteCount)
        } catch {
            counts.refusals[error.reason, default: 0] += 1
            return .answer(HTTPResponse(error))
        }
    }

    /// Reserves memory for the whole body of a request, until the request ends.
    ///
    /// - Returns: Whether there was enough.
    func reserveBody(of request: HTTPRequest) -> Bool {
        budget.reserve(request.announcedByteCount ?? bodyLimit, for: request.number)
    }

    private func deadline(of server: HTTPServer) -> ContinuousClock.Instant? {
        let pause = server.pause.map { Duration.milliseconds($0) }
        guard server.openConnectionCount > 0 else { return pause.map { (Moment.now + $0).instant } }
        return (Moment.now + min(pause ?? Self.lookPause, Self.lookPause)).instant
    }

    // MARK: Requests

    /// Whether the client of a request still waits.
    func isOpen(_ number: Int) -> Bool { requests[number] != nil }

    /// Answers a request, unless its client has gone.
    func answer(_ number: Int, _ response: HTTPResponse) {
        act(on: number) { server, request in
            if response.status >= 300 { counts.refusals["status \(response.status)", default: 0] += 1 }
            server.answer(request, response)
        }
    }

    /// Reads more of a body.
    func proceed(_ number: Int) { act(on: number) { $0.proceed($1) } }

    /// Continues the body of a stream.
    func send(_ bytes: [UInt8], isLast: Bool, on number: Int) {
        act(on: number) { $0.send(bytes, isLast: isLast, on: $1) }
    }

    /// Ends the connection of a request in the middle of its answer.
    func breakOff(_ number: Int) { act(on: number) { $0.breakOff($1) } }

    private func act(on number: Int, _ body: (HTTPServer, HTTPRequest) -> Void) {
        guard let port, let request = requests[number] else { return }
        body(port.server, request)
        port.channel.waiter.wake()
    }

    /// What the door has done, and is doing.
    var figures: DoorCounts {
        var now = counts
        if let server = port?.server {
            (now.openConnectionCount, now.connectionCount) = (server.openConnectionCount, server.connectionCount)
            now.waitingCount = server.openRequestCount
        }
        return now
    }

    // MARK: The end

    /// Takes no more connections, and lets each end with its next answer.
    func beginStopping() {
        isStopping = true
        port?.server.beginStopping()
        // Its descriptor takes connections, too.
        port?.localSocket?.removeName()
        port?.localSocket = nil
        port?.channel.waiter.wake()
    }

    /// Waits until all connections have ended, or the deadline.
    func awaitIdle(until deadline: ContinuousClock.Instant) async {
        while let port, port.server.openConnectionCount > 0, .now < deadline, !Task.isCancelled {
            await idle.wait(until: min(deadline, .now + .seconds(1)))
        }
    }
}
