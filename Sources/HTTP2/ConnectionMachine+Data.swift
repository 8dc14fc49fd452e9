extension ConnectionMachine {
    /// Accepts a piece of a response body. Padding counts against the windows too (RFC 9113 §6.1).
    mutating func receiveData(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkStream(of: frame)
        try checkNotEnded(frame)
        let content = try unpadded(frame, payload)
        guard receiveWindow.spend(payload.count) else {
            throw ConnectionFault(.flowControlError, "DATA beyond the window of the connection")
        }
        try refillConnection(&reaction)
        guard let stream = streams[frame.stream] else { return try answerLate(frame.stream, &reaction) }
        guard stream.response >= 0 else { return try refuse(stream.id, .protocolError, &reaction) }
        guard responses.spend(payload.count, at: stream.response) else {
            return try refuse(stream.id, .flowControlError, &reaction)
        }
        try append(payload.extracting(content), endsStream: frame.flags.contains(.endStream), to: stream, &reaction)
    }

    private mutating func append(
        _ content: Span<UInt8>, endsStream: Bool, to stream: StreamTable.Stream, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        guard responses[stream.response].body.count + content.count <= options.limits.bodyByteCount else {
            return try refuse(stream.id, .enhanceYourCalm, &reaction)
        }
        responses.append(content, at: stream.response)
        if endsStream { return try deliver(stream, &reaction) }
        try checkHeld()
        if content.isEmpty { try idle() } else { floods.progress() }
        let increment = responses.refill(at: stream.response)
        if increment > 0 { try answer(&reaction) { $0.appendWindowUpdate(stream.id, increment) } }
    }

    private mutating func refillConnection(_ reaction: inout Reaction) throws(ConnectionFault) {
        let increment = receiveWindow.refill()
        if increment > 0 { try answer(&reaction) { $0.appendWindowUpdate(0, increment) } }
    }

    /// Widens the send window of the connection or of a stream.
    mutating func receiveWindowUpdate(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkLength(of: frame, 4)
        let increment = Int(payload.bigEndianUInt32(at: 0) & 0x7fff_ffff)
        try idle()
        guard frame.stream != 0 else { return try widenConnection(by: increment, &reaction) }
        try checkStream(of: frame)
        guard var stream = streams[frame.stream] else { return }
        guard increment > 0 else { return try refuse(stream.id, .protocolError, &reaction) }
        let credit = Int(stream.credit) + increment
        guard settings.initialWindow + credit <= FlowWindow.limit else {
            return try refuse(stream.id, .flowControlError, &reaction)
        }
        stream.credit = Int32(clamping: credit)
        streams.widen(stream)
        if settings.initialWindow + credit > 0, uploads.wake(stream.id) { reaction.limitsChanged() }
    }

    private mutating func widenConnection(by increment: Int, _ reaction: inout Reaction) throws(ConnectionFault) {
        guard increment > 0 else {
            throw ConnectionFault(.protocolError, "a WINDOW_UPDATE of 0 for the connection")
        }
        guard sendWindow.grow(by: increment) else {
            throw ConnectionFault(.flowControlError, "a window of the connection beyond 2147483647")
        }
        reaction.limitsChanged()
    }
}
