import CNGHTTP2

/// The server side of one HTTP/2 connection, without I/O: received bytes and responses in, events and bytes to send out.
///
/// Not Sendable: one connection owns it. No call blocks. Call `takeOutput(into:)` after every call that may produce output.
@safe package final class ServerSession {
    let pointer: OpaquePointer
    /// The events since the last `takeEvents(into:)`, in order.
    var events: [Event] = []
    /// The incomplete requests. A stream's user data is its slot here, counted from 1.
    var requests: [Request] = []
    var freePlaces: [Int] = []
    var spareRequests: [Request] = []
    /// The bodies of responses in progress.
    var bodies: [Int32: Body] = [:]
    /// The slot of the request whose fields are arriving.
    var currentPlace = 0
    /// The last message from nghttp2 about the client's bytes.
    var lastMessage: String?
    var hasReportedViolation = false
    /// The number of GOAWAYs that the owner submitted and that are not sent yet.
    var ownGoAwayCount = 0
    private var consumed = 0
    private var injected: [UInt8] = []
    private var isBroken = false
    let bodyLimit: Int

    /// When to refill the connection's window.
    package var windows: Windows
    /// Whether to answer PINGs.
    package var answersPings: Bool

    struct Body {
        let bytes: [UInt8]
        var offset = 0
    }

    /// Begins a connection. The caller must submit the first settings next.
    package init(options: Options = Options()) {
        bodyLimit = options.bodyLimit
        windows = options.windows
        answersPings = options.answersPings
        unsafe pointer = Self.makeSession()
        unsafe nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { unsafe nghttp2_session_del(pointer) }

    private static func makeSession() -> OpaquePointer {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        var session: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0, unsafe nghttp2_option_new(&option) == 0 else {
            fatalError("out of memory for an HTTP/2 session")
        }
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(option)
        }
        unsafe install(callbacks)
        unsafe nghttp2_option_set_no_auto_window_update(option, 1)
        unsafe nghttp2_option_set_no_auto_ping_ack(option, 1)
        guard unsafe nghttp2_session_server_new2(&session, callbacks, nil, option) == 0, let session = unsafe session
        else { fatalError("out of memory for an HTTP/2 session") }
        return unsafe session
    }

    /// Processes bytes from the client, split anywhere. `takeEvents(into:)` returns the resulting events.
    package func receive(_ bytes: Span<UInt8>) {
        guard !isBroken else { return }
        hasReportedViolation = false
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe nghttp2_session_mem_recv(pointer, bytes.baseAddress, bytes.count)
        }
        if count < 0 {
            isBroken = true
            report(stream: 0, unsafe String(cString: nghttp2_strerror(Int32(count))))
        }
        if consumed > 0, !isBroken { unsafe nghttp2_session_consume_connection(pointer, consumed) }
        consumed = 0
    }

    /// Appends the events since the last call to `taken`. Sending may produce events too.
    package func takeEvents(into taken: inout [Event]) {
        if taken.isEmpty {
            swap(&taken, &events)
        } else {
            taken.append(contentsOf: events)
            events.removeAll(keepingCapacity: true)
        }
    }

    /// Appends the frames to send.
    package func takeOutput(into output: inout [UInt8]) {
        while !isBroken {
            var start: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(pointer, &start)
            guard count > 0, let start = unsafe start else { break }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
        output.append(contentsOf: injected)
        injected.removeAll(keepingCapacity: true)
    }

    /// Returns a request's memory for reuse by a later one.
    package func recycle(_ request: consuming Request) {
        if spareRequests.count < 64 { spareRequests.append(request) }
    }

    /// Whether to close the connection once the output has been sent.
    package var isFinished: Bool {
        if isBroken { return true }
        return unsafe nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    /// The highest stream that the client has opened, or 0 if it has opened none.
    package var lastStream: UInt32 { UInt32(unsafe nghttp2_session_get_last_proc_stream_id(pointer)) }

    /// The number of open streams.
    package internal(set) var openStreamCount = 0

    /// The memory of the requests that have not arrived completely: their bodies, and their fields as RFC 9113 §6.5.2 counts
    /// them.
    package internal(set) var incompleteByteCount = 0

    /// The number of DATA bytes received, which count against the connection's window.
    package private(set) var receivedDataByteCount = 0

    /// Appends raw bytes to the output, after the frames to send.
    package func inject(_ bytes: some Sequence<UInt8>) {
        injected.append(contentsOf: bytes)
    }

    /// Counts received DATA, so that the client may send more if `windows` is automatic.
    func consume(_ byteCount: Int, on stream: Int32) {
        receivedDataByteCount += byteCount
        unsafe nghttp2_session_consume_stream(pointer, stream, byteCount)
        if windows == .automatic { consumed += byteCount }
    }

    func report(stream: UInt32, _ message: String) {
        hasReportedViolation = true
        events.append(.violation(Violation(stream: stream, message: message)))
    }
}
