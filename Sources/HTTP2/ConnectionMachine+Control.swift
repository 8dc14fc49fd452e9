extension ConnectionMachine {
    /// Applies the peer's SETTINGS in order and acknowledges them.
    mutating func receiveSettings(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkNoStream(of: frame)
        if frame.flags.contains(.acknowledgement) {
            try checkLength(of: frame, 0)
            return try idle()
        }
        guard payload.count.isMultiple(of: 6) else {
            throw ConnectionFault(.frameSizeError, "SETTINGS of \(payload.count) bytes")
        }
        let formerWindow = settings.initialWindow
        for offset in stride(from: 0, to: payload.count, by: 6) {
            try settings.apply(payload.bigEndianUInt16(at: offset), payload.bigEndianUInt32(at: offset + 2))
            encoder.limitTable(to: settings.headerTableByteCount)
        }
        guard streams.allow(initialWindow: settings.initialWindow) else {
            throw ConnectionFault(.flowControlError, "INITIAL_WINDOW_SIZE widens a window beyond 2147483647")
        }
        if settings.initialWindow > formerWindow { uploads.wakeAll() }
        try answer(&reaction) { $0.appendSettingsAcknowledgement() }
        if hasSettings {
            try idle()
            reaction.limitsChanged()
        } else {
            hasSettings = true
            reaction.arrivals.events.append(.ready)
        }
    }

    /// Answers a PING, or accepts the acknowledgement of one this side sent.
    mutating func receivePing(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkNoStream(of: frame)
        try checkLength(of: frame, 8)
        let content = payload.bigEndianUInt64(at: 0)
        guard frame.flags.contains(.acknowledgement) else {
            try idle()
            return try answer(&reaction) { $0.appendPing(content, .acknowledgement) }
        }
        guard pings > 0 else { return try idle() }
        pings -= 1
        floods.progress()
        reaction.arrivals.events.append(.pong(content))
    }

    /// Handles a RST_STREAM: the stream ends without a response.
    mutating func receiveReset(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkStream(of: frame)
        try checkLength(of: frame, 4)
        guard let closed = streams.close(frame.stream, as: .resetThere) else { return try idle() }
        forget(closed)
        let code = ErrorCode(rawValue: payload.bigEndianUInt32(at: 0))
        reaction.arrivals.events.append(.reset(stream: frame.stream, code))
        try floods.reset(limit: options.limits.resetCount)
    }

    /// Records the last stream that the peer processes.
    ///
    /// A second GOAWAY may name a lower stream. A higher one is ignored, because the caller may already have resent the
    /// streams above the first value.
    mutating func receiveGoAway(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkNoStream(of: frame)
        guard payload.count >= 8 else {
            throw ConnectionFault(.frameSizeError, "GOAWAY of \(payload.count) bytes")
        }
        try idle()
        let named = payload.bigEndianUInt32(at: 0) & 0x7fff_ffff
        let last = min(named, lastStreamOfGoAway ?? named)
        lastStreamOfGoAway = last
        let start = reaction.arrivals.bytes.count
        reaction.arrivals.bytes.append(copying: payload.extracting(8...))
        reaction.arrivals.events.append(
            .goAway(
                lastStream: last, ErrorCode(rawValue: payload.bigEndianUInt32(at: 4)),
                debug: start..<reaction.arrivals.bytes.count))
    }

    /// Ignores a well-formed PRIORITY frame, which RFC 9113 §5.3 deprecates.
    mutating func receivePriority(_ frame: FrameHeader, _ reaction: inout Reaction) throws(ConnectionFault) {
        guard frame.stream != 0 else { throw ConnectionFault(.protocolError, "PRIORITY on stream 0") }
        try idle()
        if frame.payloadByteCount != 5 { try refuse(frame.stream, .frameSizeError, &reaction) }
    }
}
