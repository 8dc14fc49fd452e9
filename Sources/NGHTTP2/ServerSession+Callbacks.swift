import CNGHTTP2
import HTTP2

extension ServerSession {
    /// Returns the session that owns a callback.
    static func owner(of pointer: UnsafeMutableRawPointer?) -> ServerSession? {
        unsafe pointer.map { unsafe Unmanaged<ServerSession>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Registers the callbacks with nghttp2.
    static func install(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
            unsafe ServerSession.with(owner, frame) { unsafe $0.fieldsBegin($1) }
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, takeField)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, takeData)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            unsafe ServerSession.with(owner, frame) { unsafe $0.frameCame($1) }
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            unsafe ServerSession.owner(of: owner)?.streamEnded(stream, ErrorCode(rawValue: code))
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
            unsafe ServerSession.with(owner, frame) { unsafe $0.frameLeft($1) }
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, code, owner in
            unsafe ServerSession.with(owner, frame) { unsafe $0.frameIsInvalid($1, code: code) }
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, refuseField)
        unsafe nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, count, owner in
            let bytes = unsafe UnsafeBufferPointer(start: text, count: count)
            let message = unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe String(decoding: $0, as: UTF8.self) }
            unsafe ServerSession.owner(of: owner)?.lastMessage = message
            return 0
        }
    }

    private static func with(
        _ owner: UnsafeMutableRawPointer?, _ frame: UnsafePointer<nghttp2_frame>?,
        _ body: (ServerSession, UnsafePointer<nghttp2_frame>) -> Void
    ) -> Int32 {
        if let session = unsafe self.owner(of: owner), let frame = unsafe frame { unsafe body(session, frame) }
        return 0
    }

    /// Returns the slot of a stream's request if the request is incomplete.
    fileprivate func place(of stream: Int32) -> Int? {
        let mark = mark(of: stream)
        return mark > 0 ? mark - 1 : nil
    }

    /// Returns a stream's user data: 0 if its request never began, the slot counted from 1, or `endedMark`.
    private func mark(of stream: Int32) -> Int {
        Int(bitPattern: unsafe nghttp2_session_get_stream_user_data(pointer, stream))
    }

    /// Whether the client has begun a request on a stream that is not closed yet.
    func isOpen(_ stream: Int32) -> Bool { mark(of: stream) != 0 }

    private func setMark(_ mark: Int, of stream: Int32) {
        unsafe nghttp2_session_set_stream_user_data(pointer, stream, UnsafeMutableRawPointer(bitPattern: mark))
    }

    /// The mark of a stream whose request has been delivered.
    private static let endedMark = -1

    private func fieldsBegin(_ frame: UnsafePointer<nghttp2_frame>) {
        let stream = unsafe frame.pointee.hd.stream_id
        guard unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else {
            currentPlace = place(of: stream) ?? -1
            if currentPlace >= 0 { requests[currentPlace].hasTrailer = true }
            return
        }
        var request = spareRequests.popLast() ?? Request()
        request.begin(on: UInt32(bitPattern: stream))
        if let place = freePlaces.popLast() {
            requests[place] = request
            currentPlace = place
        } else {
            currentPlace = requests.count
            requests.append(request)
        }
        setMark(currentPlace + 1, of: stream)
        openStreamCount += 1
    }

    /// Removes a request from its slot and returns it.
    private func takeRequest(of stream: Int32) -> Request? {
        guard let place = place(of: stream) else { return nil }
        setMark(Self.endedMark, of: stream)
        freePlaces.append(place)
        var request = Request()
        swap(&request, &requests[place])
        incompleteByteCount -= request.fields.listByteCount + request.body.count
        return request
    }

    private func streamEnded(_ stream: Int32, _ code: ErrorCode) {
        if mark(of: stream) != 0 { openStreamCount -= 1 }
        if let request = takeRequest(of: stream) { recycle(request) }
        if !bodies.isEmpty { bodies[stream] = nil }
        events.append(.closed(stream: UInt32(bitPattern: stream), code))
    }

    private func frameCame(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = unsafe frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
            guard UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
                let request = takeRequest(of: head.stream_id)
            else { return }
            events.append(.request(request))
        case NGHTTP2_RST_STREAM.rawValue:
            let code = unsafe ErrorCode(rawValue: frame.pointee.rst_stream.error_code)
            events.append(.reset(stream: UInt32(bitPattern: head.stream_id), code))
        case NGHTTP2_SETTINGS.rawValue:
            let settings = unsafe frame.pointee.settings
            let values = unsafe UnsafeBufferPointer(start: settings.iv, count: settings.niv).map {
                Setting(identifier: UInt16(truncatingIfNeeded: $0.settings_id), value: $0.value)
            }
            events.append(head.isAcknowledgement ? .settingsAcknowledged : .settings(values))
        case NGHTTP2_PING.rawValue:
            let payload = unsafe frame.pointee.ping.number
            events.append(head.isAcknowledgement ? .pong(payload) : .ping(payload))
            if answersPings, !head.isAcknowledgement { pong(payload) }
        case NGHTTP2_GOAWAY.rawValue:
            events.append(unsafe frame.pointee.goaway.event)
        default: return
        }
    }

    /// Reports a GOAWAY that nghttp2 sends by itself: the connection ends because of a violation by the client.
    private func frameLeft(_ frame: UnsafePointer<nghttp2_frame>) {
        guard unsafe UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return }
        if ownGoAwayCount > 0 {
            ownGoAwayCount -= 1
        } else if !hasReportedViolation, unsafe frame.pointee.goaway.error_code != NGHTTP2_NO_ERROR.rawValue {
            let debug = unsafe frame.pointee.goaway.debug
            report(stream: 0, debug.isEmpty ? lastMessage ?? "the connection failed" : debug)
        }
    }

    private func frameIsInvalid(_ frame: UnsafePointer<nghttp2_frame>, code: Int32) {
        let stream = unsafe UInt32(bitPattern: frame.pointee.hd.stream_id)
        if code == NGHTTP2_ERR_REFUSED_STREAM.rawValue { return events.append(.refusedBeyondLimit(stream: stream)) }
        let cause = unsafe String(cString: nghttp2_strerror(code))
        report(stream: stream, lastMessage.map { "\(cause): \($0)" } ?? cause)
        lastMessage = nil
    }
}

/// Stores one field of a request.
private func takeField(
    _: OpaquePointer?, _: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
    _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _: UInt8, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe ServerSession.owner(of: owner), session.currentPlace >= 0 else { return 0 }
    let pair = unsafe nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name), value: UnsafeMutablePointer(mutating: value), namelen: nameCount,
        valuelen: valueCount, flags: 0)
    let before = session.requests[session.currentPlace].fields.listByteCount
    unsafe session.requests[session.currentPlace].fields.append(pair)
    session.incompleteByteCount += session.requests[session.currentPlace].fields.listByteCount - before
    return 0
}

/// Notes and reports a field that nghttp2 omits because its name or value is malformed.
private func refuseField(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
    _: UnsafePointer<UInt8>?, _: Int, _: UInt8, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe ServerSession.owner(of: owner), let frame = unsafe frame else { return 0 }
    let name = unsafe String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
    let stream = unsafe UInt32(bitPattern: frame.pointee.hd.stream_id)
    if session.currentPlace >= 0, session.requests[session.currentPlace].malformedField == nil {
        session.requests[session.currentPlace].malformedField = name
    }
    session.report(stream: stream, "the field \(name) is malformed and was ignored")
    return 0
}

/// Stores a piece of a request's body.
private func takeData(
    _: OpaquePointer?, _: UInt8, _ stream: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
    _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe ServerSession.owner(of: owner) else { return 0 }
    session.consume(count, on: stream)
    guard let place = session.place(of: stream) else { return 0 }
    session.requests[place].bodyByteCount += count
    let room = max(0, min(count, session.bodyLimit - session.requests[place].body.count))
    unsafe session.requests[place].body.append(contentsOf: UnsafeBufferPointer(start: bytes, count: room))
    session.incompleteByteCount += room
    return 0
}

extension nghttp2_frame_hd {
    fileprivate var isAcknowledgement: Bool { UInt32(flags) & NGHTTP2_FLAG_ACK.rawValue != 0 }
}

extension nghttp2_ping {
    /// The eight bytes, big-endian.
    fileprivate var number: UInt64 {
        unsafe withUnsafeBytes(of: opaque_data) { unsafe $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }
}

extension nghttp2_goaway {
    fileprivate var debugBytes: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: opaque_data, count: opaque_data_len))
    }

    fileprivate var debug: String { String(decoding: unsafe debugBytes, as: UTF8.self) }

    fileprivate var event: ServerSession.Event {
        unsafe .goAway(
            lastStream: UInt32(bitPattern: last_stream_id), ErrorCode(rawValue: error_code), debug: debugBytes)
    }
}
