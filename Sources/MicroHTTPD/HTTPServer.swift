import CMicroHTTPD
import Glibc

/// An HTTP/1.1 server (RFC 9112) over libmicrohttpd, without a thread of its own.
///
/// Not Sendable: one actor owns it. No call blocks. Its owner waits until a copy of its descriptor is readable or `pause` has passed,
/// calls `run`, takes the events, and answers.
@safe package final class HTTPServer {
    /// What has happened to a request.
    package enum Event {
        /// As much of the body as is kept at a time has arrived. Take it, and call `proceed`.
        case piece(HTTPRequest)
        /// The whole request has arrived. Answer it.
        case whole(HTTPRequest)
        /// What was given of a stream's body has been sent. Call `send`.
        case drained(HTTPRequest)
        /// The request has ended; it must not be used any more.
        case ended(HTTPRequest, isDelivered: Bool)
    }

    /// What to do with a request whose head has arrived.
    package enum Admission {
        /// Read the body, and keep at most so many bytes at a time.
        case read(limit: Int)
        /// Do not keep the body, and answer.
        case answer(HTTPResponse)
    }

    /// The limits of a server.
    package struct Limits: Sendable {
        /// The most connections; further ones wait in the kernel.
        package var connections = 1_000
        /// The bytes of memory for a connection, which bound a request's head.
        package var connectionMemory = 32 << 10
        /// How many seconds a connection may take for a request, or for 64 KiB of its body, or for 32 KiB of the answer.
        package var patience = 60
        /// How much of an unwanted body is read so that the client reads its answer.
        package var discarded = 16 << 20

        /// Creates the usual limits.
        package init() {}
    }

    private var pointer: OpaquePointer?
    private let limits: Limits
    private var events: [Event] = []
    private var lastNumber = 0
    private var requests: [Int: HTTPRequest] = [:]
    private var connections: [Int: HTTPConnection] = [:]
    private var now = 0
    private var isStopping = false
    /// Whether a connection has ended since `run` began.
    private var hasNewRoom = false
    /// Whether no connection may be suspended any more.
    private var isEnding = false
    /// Decides about heads; only during `run`.
    private var admit: ((HTTPRequest) -> Admission)?

    /// The number of connections that were ever opened.
    package private(set) var connectionCount = 0

    /// Starts serving on a listening socket, which it takes over.
    ///
    /// - Returns: `nil` if there is no descriptor or memory left; the socket is closed then.
    package init?(socket: Int32, limits: Limits) {
        self.limits = limits
        unsafe pointer = nil
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe pointer = cmicrohttpd_start(
            socket, UInt32(limits.connections), limits.connectionMemory, UInt32(limits.patience), takeRequest,
            endRequest, changeConnection, takeTarget, owner)
        guard unsafe pointer != nil else {
            close(socket)
            return nil
        }
    }

    deinit {
        // It runs also for a server that could not start.
        guard unsafe pointer != nil else { return }
        isEnding = true
        // Libmicrohttpd must not end while a connection is suspended, and resumes it only when it runs.
        for request in requests.values where request.isSuspended { unsafe MHD_resume_connection(request.connection) }
        unsafe _ = MHD_run(pointer)
        unsafe MHD_stop_daemon(pointer)
    }

    // MARK: Running

    /// Returns a copy of the descriptor to wait for.
    ///
    /// - Returns: -1 if there is no descriptor left.
    package func duplicateDescriptor() -> Int32 {
        unsafe fcntl(cmicrohttpd_descriptor(pointer), F_DUPFD_CLOEXEC, 0)
    }

    /// How many milliseconds may pass until the next `run`, at most; `nil` if any.
    package var pause: Int? {
        // At a limit of connections or descriptors, libmicrohttpd does not look at its listening socket any more. It begins
        // again at the start of a run, for which nothing but this would be a cause if all clients have left.
        if hasNewRoom { return 0 }
        var milliseconds: UInt64 = 0
        guard unsafe MHD_get_timeout(pointer, &milliseconds) == .YES else { return nil }
        return Int(clamping: milliseconds)
    }

    /// The number of open connections.
    package var openConnectionCount: Int { connections.count }

    /// The number of requests that have no complete answer.
    package var openRequestCount: Int { requests.count }

    /// Reads and writes what can be read and written, and once a second cuts off clients that take too long or have left.
    ///
    /// - Parameters:
    ///   - seconds: The time by a clock that never jumps.
    ///   - admit: Decides about a request whose head has arrived.
    package func run(at seconds: Int, _ admit: (HTTPRequest) -> Admission) {
        if seconds > now {
            now = seconds
            for connection in connections.values { connection.cutOff(before: now - limits.patience) }
        }
        hasNewRoom = false
        withoutActuallyEscaping(admit) {
            self.admit = $0
            unsafe _ = MHD_run(pointer)
            self.admit = nil
        }
    }

    /// Returns the events since the last call.
    package func takeEvents() -> [Event] {
        var taken: [Event] = []
        swap(&taken, &events)
        return taken
    }

    /// Takes no more connections, and lets each connection end with its next answer.
    package func beginStopping() {
        guard !isStopping else { return }
        isStopping = true
        let socket = unsafe MHD_quiesce_daemon(pointer)
        if socket >= 0 { close(socket) }
        for connection in connections.values where connection.isIdle { connection.cutOff() }
    }

    // MARK: Answers

    /// Reads more of a body, after a piece of it was taken.
    package func proceed(_ request: HTTPRequest) { resume(request) }

    /// Answers a request whose piece or whole was reported. `run` must follow.
    package func answer(_ request: HTTPRequest, _ response: HTTPResponse) {
        request.response = response
        request.body = []
        if case .reading = request.state { request.state = .discarding }
        resume(request)
    }

    /// Continues the body of a stream. `run` must follow.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes.
    ///   - isLast: Whether the body ends with them.
    ///   - request: The request.
    package func send(_ bytes: [UInt8], isLast: Bool, on request: HTTPRequest) {
        request.outgoing.removeFirst(request.outgoingOffset)
        request.outgoingOffset = 0
        request.outgoing += bytes
        request.hasAllOutgoing = isLast
        resume(request)
    }

    /// Ends the connection of a request in the middle of its answer, so that the client knows that something is missing.
    package func breakOff(_ request: HTTPRequest) {
        request.isBroken = true
        resume(request)
        unsafe connection(of: request.connection)?.cutOff()
    }

    private func resume(_ request: HTTPRequest) {
        guard request.isSuspended else { return }
        request.isSuspended = false
        unsafe connection(of: request.connection)?.begin(at: now)
        unsafe MHD_resume_connection(request.connection)
    }

    private func suspend(_ request: HTTPRequest) {
        request.isSuspended = true
        unsafe connection(of: request.connection)?.pause()
        unsafe MHD_suspend_connection(request.connection)
    }

    // MARK: What the callbacks do

    /// How much of an answer's body is sent at a time.
    private static let blockByteCount = 32 << 10

    func connectionBegins(_ pointer: OpaquePointer) -> UnsafeMutableRawPointer {
        connectionCount += 1
        let connection = HTTPConnection(
            number: connectionCount, descriptor: unsafe cmicrohttpd_socket(pointer), since: now)
        connections[connectionCount] = connection
        return unsafe Unmanaged.passUnretained(connection).toOpaque()
    }

    func connectionEnds(_ pointer: OpaquePointer) {
        guard let connection = unsafe connection(of: pointer) else { return }
        connections[connection.number] = nil
        hasNewRoom = true
    }

    private func connection(of pointer: OpaquePointer) -> HTTPConnection? {
        let context = unsafe cmicrohttpd_context(pointer)
        return unsafe context.map { unsafe Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    func targetCame(_ target: String, on pointer: OpaquePointer) {
        unsafe connection(of: pointer)?.target = target
    }

    func requestBegins(_ pointer: OpaquePointer, _ arrived: RequestHead) -> HTTPRequest {
        lastNumber += 1
        let connection = unsafe connection(of: pointer)
        var head = arrived
        head.finish(target: connection?.target ?? "", isInPlace: Self.readsInPlace)
        let request = unsafe HTTPRequest(head, number: lastNumber, of: pointer, self)
        requests[lastNumber] = request
        connection?.isIdle = false
        connection?.begin(at: now)
        switch admission(of: request, head.fault) {
        case .read(let limit): request.state = .reading(limit: limit)
        case .answer(let response):
            request.response = response
            request.state = .discarding
        }
        return request
    }

    /// Whether libmicrohttpd takes heads apart where they have arrived, and looks at too little of them: later ones have a
    /// parser of their own for that.
    private static let readsInPlace = unsafe String(cString: MHD_get_version()).hasPrefix("0.9.")

    /// Asks the owner, unless the head is at fault.
    private func admission(of request: HTTPRequest, _ fault: RequestHead.Fault?) -> Admission {
        guard let fault else { return admit?(request) ?? .answer(HTTPResponse(status: 503)) }
        // A problem of RFC 9457. No reason has a character that JSON escapes.
        let problem = #"{"status":\#(fault.status),"title":"\#(fault.reason)"}"#
        var response = HTTPResponse(
            status: fault.status, contentType: "application/problem+json", body: Array("\(problem)\n".utf8))
        response.closesConnection = true
        request.isMalformed = true
        return .answer(response)
    }

    func bodyCame(_ bytes: UnsafeBufferPointer<UInt8>, for request: HTTPRequest) {
        request.bodyByteCount += bytes.count
        guard case .reading(let limit) = request.state else { return }
        unsafe request.body.append(contentsOf: bytes)
        // Of a chunked body, libmicrohttpd passes on what it has read although the connection is suspended.
        guard request.body.count >= limit, !request.isSuspended, !isEnding else { return }
        events.append(.piece(request))
        suspend(request)
    }

    /// Whether the answer is known, and the client should have it before the body.
    func mustAnswerEarly(_ request: HTTPRequest) -> Bool {
        guard case .discarding = request.state else { return false }
        return request.isMalformed || request.fields["expect"] != nil
            || request.announcedByteCount.map { $0 > limits.discarded } ?? false
    }

    /// Whether a body that nobody wants is too long to wait for its end.
    func isTooLong(_ request: HTTPRequest) -> Bool {
        guard case .discarding = request.state else { return false }
        return request.bodyByteCount > limits.discarded
    }

    /// Sends the answer if there is one, or reports that the whole request has arrived.
    func requestIsWhole(_ request: HTTPRequest) -> MHD_Result {
        if let response = request.response { return queue(response, for: request) }
        guard !isEnding else { return .NO }
        request.state = .waiting
        unsafe connection(of: request.connection)?.awaitsRequest = false
        events.append(.whole(request))
        suspend(request)
        return .YES
    }

    func queue(_ response: HTTPResponse, for request: HTTPRequest) -> MHD_Result {
        request.state = .answered
        (request.outgoing, request.hasAllOutgoing) = (response.body, !response.isStream)
        let connection = unsafe connection(of: request.connection)
        connection?.awaitsRequest = false
        connection?.begin(at: now)
        let size = response.isStream ? UInt64.max : UInt64(response.body.count)
        let context = unsafe Unmanaged.passRetained(request).toOpaque()
        guard
            let made = unsafe MHD_create_response_from_callback(
                size, Self.blockByteCount, readBody, context, forgetBody)
        else {
            unsafe Unmanaged<HTTPRequest>.fromOpaque(context).release()
            return .NO
        }
        defer { unsafe MHD_destroy_response(made) }
        for (name, value) in response.fields { unsafe _ = MHD_add_response_header(made, name, value) }
        if response.closesConnection || isStopping { unsafe _ = MHD_add_response_header(made, "Connection", "close") }
        return unsafe MHD_queue_response(request.connection, UInt32(response.status), made)
    }

    /// Copies bytes of the answer's body; returns how many, or one of libmicrohttpd's constants.
    func read(_ request: HTTPRequest, into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        // Not the end of the stream, but an error (MHD_CONTENT_READER_END_WITH_ERROR).
        guard !request.isBroken else { return -2 }
        let rest = request.outgoing.count - request.outgoingOffset
        guard rest > 0 else {
            guard !request.hasAllOutgoing, !isEnding else { return -1 }
            events.append(.drained(request))
            suspend(request)
            return 0
        }
        let count = min(rest, target.count)
        let bytes = request.outgoing[request.outgoingOffset..<request.outgoingOffset + count]
        unsafe _ = target.update(fromContentsOf: bytes)
        request.outgoingOffset += count
        unsafe connection(of: request.connection)?.begin(at: now)
        return count
    }

    func requestEnds(_ request: HTTPRequest, isDelivered: Bool) {
        requests[request.number] = nil
        // Libmicrohttpd may end a connection although it is suspended.
        request.isSuspended = false
        events.append(.ended(request, isDelivered: isDelivered))
        guard let connection = unsafe connection(of: request.connection) else { return }
        (connection.isIdle, connection.awaitsRequest) = (true, true)
        connection.begin(at: now)
    }
}
