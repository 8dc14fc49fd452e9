extension ConnectionMachine {
    /// Processes bytes from the peer. Frames may be split anywhere.
    ///
    /// - Parameters:
    ///   - bytes: The bytes received since the last call.
    ///   - decoder: The decoder of this connection; use the same one for every call.
    ///   - arrivals: Receives the events, appended to those it already holds.
    ///   - output: Receives the frames to send. The more unsent bytes it holds, the sooner a flood is detected.
    /// - Throws: The violation that ends the connection: send the contents of `output`, which end in a GOAWAY, and
    ///   close. The events reported before it are valid. Further calls throw the same fault.
    package mutating func receive(
        _ bytes: Span<UInt8>, with decoder: any HeaderBlockDecoder, arrivals: inout Arrivals,
        output: inout [UInt8]
    ) throws(ConnectionFault) {
        if let fault { throw fault }
        var reaction = Reaction(taking: &arrivals, &output)
        defer { reaction.moveBack(to: &arrivals, &output) }
        do throws(ConnectionFault) {
            try read(bytes, with: decoder, &reaction)
        } catch {
            fault = error
            reaction.output.appendGoAway(error.code)
            throw error
        }
    }

    /// Handles the complete frames and keeps the remainder for the next call.
    private mutating func read(
        _ bytes: Span<UInt8>, with decoder: any HeaderBlockDecoder, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        var offset = 0
        if !frameBytes.isEmpty {
            offset = try complete(with: bytes)
            guard let header = try Self.wholeFrame(in: frameBytes.span, at: 0) else { return }
            let whole = frameBytes
            frameBytes = []
            let payload = whole.span.extracting(FrameHeader.byteCount...)
            try handle(header, payload, with: decoder, &reaction)
        }
        while let header = try Self.wholeFrame(in: bytes, at: offset) {
            let start = offset + FrameHeader.byteCount
            offset = start + header.payloadByteCount
            try handle(header, bytes.extracting(start..<offset), with: decoder, &reaction)
        }
        frameBytes.append(copying: bytes.extracting(offset...))
    }

    /// Adds bytes to the incomplete frame, but none of the next frame. Returns the number of bytes used.
    private mutating func complete(with bytes: Span<UInt8>) throws(ConnectionFault) -> Int {
        var used = min(bytes.count, max(0, FrameHeader.byteCount - frameBytes.count))
        frameBytes.append(copying: bytes.extracting(..<used))
        guard let header = FrameHeader(decoding: frameBytes.span, at: 0) else { return used }
        try Self.checkLength(of: header)
        let missing = FrameHeader.byteCount + header.payloadByteCount - frameBytes.count
        let more = min(bytes.count - used, missing)
        frameBytes.append(copying: bytes.extracting(used..<used + more))
        used += more
        return used
    }

    /// Returns the header of the frame at `offset` if the frame is complete.
    private static func wholeFrame(in bytes: Span<UInt8>, at offset: Int) throws(ConnectionFault) -> FrameHeader? {
        guard let header = FrameHeader(decoding: bytes, at: offset) else { return nil }
        try checkLength(of: header)
        return bytes.count - offset - FrameHeader.byteCount >= header.payloadByteCount ? header : nil
    }

    private static func checkLength(of header: FrameHeader) throws(ConnectionFault) {
        guard header.payloadByteCount <= FrameHeader.defaultPayloadLimit else {
            throw ConnectionFault(.frameSizeError, "a frame of \(header.payloadByteCount) bytes")
        }
    }

    private mutating func handle(
        _ frame: FrameHeader, _ payload: Span<UInt8>, with decoder: any HeaderBlockDecoder,
        _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        try checkOrder(of: frame)
        switch frame.type {
        case .headers:
            guard let head = try receiveHeaders(frame, payload) else { return }
            let fragment = payload.extracting(head.fragment)
            try decode(fragment, of: head, with: decoder, &reaction)
        case .continuation:
            guard let head = try receiveContinuation(frame, payload) else { return }
            let bytes = blockBytes
            blockBytes = []
            try decode(bytes.span, of: head, with: decoder, &reaction)
        case .data, .priority, .resetStream, .settings, .pushPromise, .ping, .goAway, .windowUpdate, nil:
            try handleSimple(frame, payload, &reaction)
        }
    }

    /// Handles a frame that does not carry a header block.
    private mutating func handleSimple(
        _ frame: FrameHeader, _ payload: Span<UInt8>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        switch frame.type {
        case .data: try receiveData(frame, payload, &reaction)
        case .priority: try receivePriority(frame, &reaction)
        case .resetStream: try receiveReset(frame, payload, &reaction)
        case .settings: try receiveSettings(frame, payload, &reaction)
        case .ping: try receivePing(frame, payload, &reaction)
        case .goAway: try receiveGoAway(frame, payload, &reaction)
        case .windowUpdate: try receiveWindowUpdate(frame, payload, &reaction)
        case .pushPromise: throw ConnectionFault(.protocolError, "a PUSH_PROMISE, although push is disabled")
        case .headers, .continuation, nil: try idle()
        }
    }

    /// Checks that SETTINGS come first (RFC 9113 §3.4) and that no frame interrupts a header block (§4.3).
    @inline(__always)
    private func checkOrder(of frame: FrameHeader) throws(ConnectionFault) {
        if !hasSettings, frame.type != .settings || frame.flags.contains(.acknowledgement) {
            throw ConnectionFault(.protocolError, "the first frame is not SETTINGS")
        }
        if let block, frame.type != .continuation || frame.stream != block.stream {
            throw ConnectionFault(.protocolError, "a frame between HEADERS and CONTINUATION")
        }
    }

    /// Decodes a complete header block. Blocks for closed streams are decoded too, because later blocks depend on them.
    private mutating func decode(
        _ bytes: Span<UInt8>, of head: OpenBlock, with decoder: any HeaderBlockDecoder,
        _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        let first = reaction.arrivals.fields.count
        let before = reaction.arrivals.fields.listByteCount
        var isTooLarge = false
        do throws(HeaderBlockFault) {
            try decoder.decode(bytes, into: &reaction.arrivals.fields)
        } catch .malformed {
            throw ConnectionFault(.compressionError, "a header block that cannot be decoded")
        } catch {
            isTooLarge = true
        }
        let byteCount = reaction.arrivals.fields.listByteCount - before
        if isTooLarge || byteCount > options.limits.headerListByteCount {
            reaction.arrivals.fields.truncate(to: first)
            try refuse(head.stream, .enhanceYourCalm, &reaction)
        } else {
            try conclude(head, fields: first..<reaction.arrivals.fields.count, &reaction)
        }
    }
}

extension ConnectionMachine {
    /// Resets the count of frames without effect: `Limits.idleFrameCount` limits how many the peer may send between two
    /// calls.
    ///
    /// Call it at intervals. Otherwise a peer that sends only an occasional PING reaches the limit eventually.
    package mutating func passWhile() {
        floods.progress()
    }

    /// Counts a frame that has no effect on a request.
    mutating func idle() throws(ConnectionFault) {
        try floods.idleFrame(limit: options.limits.idleFrameCount)
    }

    /// Throws if the frame is for the connection or for a stream that was never opened.
    @inline(__always)
    func checkStream(of frame: FrameHeader) throws(ConnectionFault) {
        guard frame.stream != 0 else {
            throw ConnectionFault(.protocolError, "a frame of type \(frame.rawType) on stream 0")
        }
        guard frame.stream & 1 == 1, frame.stream < nextStream else {
            throw ConnectionFault(.protocolError, "a frame of type \(frame.rawType) on idle stream \(frame.stream)")
        }
    }

    /// Throws if the frame is for a stream.
    func checkNoStream(of frame: FrameHeader) throws(ConnectionFault) {
        guard frame.stream == 0 else {
            throw ConnectionFault(.protocolError, "a frame of type \(frame.rawType) on stream \(frame.stream)")
        }
    }

    /// Throws if the payload does not have the length that the frame's type requires.
    func checkLength(of frame: FrameHeader, _ byteCount: Int) throws(ConnectionFault) {
        guard frame.payloadByteCount == byteCount else {
            throw ConnectionFault(
                .frameSizeError, "a frame of type \(frame.rawType) with \(frame.payloadByteCount) bytes")
        }
    }

    /// Resets the stream because of an error that this side detected.
    mutating func refuse(_ stream: UInt32, _ code: ErrorCode, _ reaction: inout Reaction) throws(ConnectionFault) {
        guard let closed = streams.close(stream, as: .resetHere) else { return try idle() }
        forget(closed)
        try answer(&reaction) { $0.appendReset(stream, code) }
        reaction.arrivals.events.append(.reset(stream: stream, code))
        try floods.reset(limit: options.limits.resetCount)
    }

    /// Queues an answer. Throws if too many bytes are queued already: the peer sends requests but does not read the
    /// answers.
    func answer(_ reaction: inout Reaction, _ write: (inout [UInt8]) -> Void) throws(ConnectionFault) {
        guard reaction.output.count <= options.limits.answerByteCount else {
            throw ConnectionFault(.enhanceYourCalm, "\(reaction.output.count) unsent bytes: the peer does not read")
        }
        write(&reaction.output)
    }
}
