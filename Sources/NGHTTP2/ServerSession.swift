import CNGHTTP2
import HTTP2

/// A server's half of one HTTP/2 connection, over memory: bytes and events in, bytes and answers out.
///
/// Not Sendable: one connection owns it. Nothing waits; what there is to send is taken with `takeOutput(into:)` after
/// every call that may make some.
@safe package final class ServerSession {
    let pointer: OpaquePointer
    /// What happened, in order, since it was taken last.
    var events: [Event] = []
    /// Requests that have begun and not ended; a stream's user data is its place here, from 1.
    var requests: [Request] = []
    var freePlaces: [Int] = []
    var spareRequests: [Request] = []
    /// Bodies of answers that are on their way.
    var bodies: [Int32: Body] = [:]
    /// The place of the request whose fields are coming.
    var currentPlace = 0
    /// What nghttp2 said last about the client's bytes.
    var lastMessage: String?
    var hasReportedViolation = false
    /// GOAWAYs of the owner's that are not sent yet.
    var ownGoAwayCount = 0
    private var consumed = 0
    private var injected: [UInt8] = []
    private var isBroken = false
    let bodyLimit: Int

    /// When the client may send more.
    package var windows: Windows
    /// Whether a PING is answered.
    package var answersPings: Bool

    struct Body {
        let bytes: [UInt8]
        var offset = 0
    }

    /// Begins a connection. Submit the first settings next.
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
            fatalError("there is not enough memory for an HTTP/2 session")
        }
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(option)
        }
        unsafe install(callbacks)
        unsafe nghttp2_option_set_no_auto_window_update(option, 1)
        unsafe nghttp2_option_set_no_auto_ping_ack(option, 1)
        guard unsafe nghttp2_session_server_new2(&session, callbacks, nil, option) == 0, let session = unsafe session
        else { fatalError("there is not enough memory for an HTTP/2 session") }
        return unsafe session
    }

    /// Takes bytes that the client sent, cut anywhere. `takeEvents(into:)` yields what they were.
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

    /// Moves what happened since the last call behind the events in `taken`; sending may yield events too.
    package func takeEvents(into taken: inout [Event]) {
        if taken.isEmpty {
            swap(&taken, &events)
        } else {
            taken.append(contentsOf: events)
            events.removeAll(keepingCapacity: true)
        }
    }

    /// Appends the frames that there are to send.
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

    /// Gives a request's room back for the next one.
    package func recycle(_ request: consuming Request) {
        if spareRequests.count < 64 { spareRequests.append(request) }
    }

    /// Whether the connection is to be closed once the output has been sent.
    package var isFinished: Bool {
        if isBroken { return true }
        return unsafe nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    /// The highest stream that the client has opened; 0 before any.
    package var lastStream: UInt32 { UInt32(unsafe nghttp2_session_get_last_proc_stream_id(pointer)) }

    /// How many streams of the client's are open.
    package internal(set) var openStreamCount = 0

    /// How many bytes of DATA have come, which used up the connection's window.
    package private(set) var receivedDataByteCount = 0

    /// Appends bytes to the output as they are, behind the frames there are to send.
    package func inject(_ bytes: some Sequence<UInt8>) {
        injected.append(contentsOf: bytes)
    }

    /// Notes received DATA, so that the client may send more if that is automatic.
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
