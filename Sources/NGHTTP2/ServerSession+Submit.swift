import CNGHTTP2
package import HTTP2

extension ServerSession {
    /// Sends a response. A body follows in DATA frames as the client's windows allow.
    ///
    /// Does nothing on a closed stream.
    package func respond(on stream: UInt32, _ fields: inout ResponseFields, body: [UInt8] = []) {
        let id = Int32(bitPattern: stream)
        guard isOpen(id) else { return }
        if !body.isEmpty { bodies[id] = Body(bytes: body) }
        let result = unsafe fields.withPairs { pairs, count in
            guard !body.isEmpty else { return unsafe nghttp2_submit_response(pointer, id, pairs, count, nil) }
            var provider = unsafe nghttp2_data_provider(source: nghttp2_data_source(), read_callback: readBody)
            return unsafe nghttp2_submit_response(pointer, id, pairs, count, &provider)
        }
        if result != 0 { bodies[id] = nil }
    }

    /// Sends an informational response (1xx) before the final one.
    package func inform(on stream: UInt32, _ fields: inout ResponseFields) {
        _ = unsafe fields.withPairs { pairs, count in
            unsafe nghttp2_submit_headers(
                pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), Int32(bitPattern: stream), nil, pairs, count, nil)
        }
    }

    /// Resets a stream (RST_STREAM).
    package func reset(_ stream: UInt32, _ code: ErrorCode) {
        unsafe nghttp2_submit_rst_stream(
            pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), Int32(bitPattern: stream), code.rawValue)
    }

    /// Announces the end of the connection. May be repeated with a lower `lastStream`, which never rises.
    ///
    /// - Parameters:
    ///   - lastStream: The highest stream that the server still processes. Those above it are closed.
    ///   - code: The reason.
    ///   - debug: Further details of the reason, in any form.
    package func goAway(lastStream: UInt32, _ code: ErrorCode, debug: [UInt8] = []) {
        ownGoAwayCount += 1
        unsafe nghttp2_submit_goaway(
            pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), Int32(bitPattern: lastStream), code.rawValue, debug,
            debug.count)
    }

    /// Announces a graceful shutdown (RFC 9113 §6.8): GOAWAY with 2^31 - 1 and NO_ERROR.
    package func noticeShutdown() {
        ownGoAwayCount += 1
        unsafe nghttp2_submit_shutdown_notice(pointer)
    }

    /// Sends settings. They take effect once the client has acknowledged them.
    package func submit(_ settings: [Setting]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.identifier), value: $0.value) }
        unsafe nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Sends a PING.
    package func ping(_ payload: UInt64) {
        submitPing(payload, flags: NGHTTP2_FLAG_NONE)
    }

    /// Answers a PING. Not needed if `answersPings` is on.
    package func pong(_ payload: UInt64) {
        submitPing(payload, flags: NGHTTP2_FLAG_ACK)
    }

    private func submitPing(_ payload: UInt64, flags: nghttp2_flag) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: payload >> (56 - 8 * $0)) }
        unsafe nghttp2_submit_ping(pointer, UInt8(flags.rawValue), bytes)
    }

    /// Widens the send window of the client by `byteCount`, for a stream or, with 0, for the connection.
    package func grant(_ byteCount: Int32, onStream stream: UInt32) {
        unsafe nghttp2_submit_window_update(
            pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), Int32(bitPattern: stream), byteCount)
    }

    /// Sets the connection's window, which is initially 65,535 bytes.
    package func setConnectionWindow(_ byteCount: Int32) {
        unsafe nghttp2_session_set_local_window_size(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, byteCount)
    }
}

/// Supplies a piece of a response body to nghttp2.
private func readBody(
    _: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
    _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let session = unsafe ServerSession.owner(of: owner), let buffer = unsafe buffer,
        var body = session.bodies[stream]
    else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    let count = min(capacity, body.bytes.count - body.offset)
    let room = unsafe UnsafeMutableBufferPointer(start: buffer, count: count)
    _ = unsafe room.update(fromContentsOf: body.bytes[body.offset..<body.offset + count])
    body.offset += count
    let isWhole = body.offset == body.bytes.count
    session.bodies[stream] = isWhole ? nil : body
    if isWhole { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
