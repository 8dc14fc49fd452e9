/// A header block whose first frame has arrived.
struct OpenBlock: Sendable {
    let stream: UInt32
    let endsStream: Bool
    /// The range of the first fragment in the payload of its HEADERS frame.
    let fragment: Range<Int>
    var continuationCount = 0
}

extension ConnectionMachine {
    /// Accepts the first fragment of a header block. Returns the block if it is complete.
    mutating func receiveHeaders(
        _ frame: FrameHeader, _ payload: Span<UInt8>
    ) throws(ConnectionFault) -> OpenBlock? {
        try checkStream(of: frame)
        try checkNotEnded(frame)
        var fragment = try unpadded(frame, payload)
        if frame.flags.contains(.priority) {
            guard fragment.count >= 5 else {
                throw ConnectionFault(.frameSizeError, "HEADERS too short for its priority")
            }
            fragment = fragment.lowerBound + 5..<fragment.upperBound
        }
        let head = OpenBlock(
            stream: frame.stream, endsStream: frame.flags.contains(.endStream), fragment: fragment)
        if frame.flags.contains(.endHeaders) { return head }
        block = head
        blockBytes.append(copying: payload.extracting(fragment))
        return nil
    }

    /// Accepts a further fragment of a header block. Returns the block if it is complete.
    mutating func receiveContinuation(
        _ frame: FrameHeader, _ payload: Span<UInt8>
    ) throws(ConnectionFault) -> OpenBlock? {
        guard var head = block else {
            throw ConnectionFault(.protocolError, "CONTINUATION without HEADERS")
        }
        head.continuationCount += 1
        guard head.continuationCount <= options.limits.continuationCount else {
            throw ConnectionFault(.enhanceYourCalm, "a header block of more than \(head.continuationCount) frames")
        }
        guard blockBytes.count + payload.count <= options.limits.headerBlockByteCount else {
            throw ConnectionFault(
                .enhanceYourCalm, "a header block of more than \(options.limits.headerBlockByteCount) bytes")
        }
        blockBytes.append(copying: payload)
        block = frame.flags.contains(.endHeaders) ? nil : head
        return block == nil ? head : nil
    }

    /// Acts on a complete header list.
    mutating func conclude(
        _ head: OpenBlock, fields: Range<Int>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        guard let stream = streams[head.stream] else {
            reaction.arrivals.fields.truncate(to: fields.lowerBound)
            return try answerLate(head.stream, &reaction)
        }
        if stream.response >= 0 { return try concludeTrailers(head, stream, fields: fields, &reaction) }
        switch ResponseHead(reaction.arrivals.fields, in: fields) {
        case .final(let status, let promised):
            if head.endsStream, promised ?? 0 == 0 || status == 204 || status == 304 {
                return try deliver(head.stream, status: status, fields: fields, &reaction)
            }
            if !head.endsStream {
                hold(stream, status: status, promising: promised, (reaction.arrivals.fields, fields))
            }
            reaction.arrivals.fields.truncate(to: fields.lowerBound)
            if head.endsStream { try refuse(head.stream, .protocolError, &reaction) } else { try checkHeld() }
        case .interim:
            reaction.arrivals.fields.truncate(to: fields.lowerBound)
            if head.endsStream { try refuse(head.stream, .protocolError, &reaction) } else { try idle() }
        case .malformed:
            reaction.arrivals.fields.truncate(to: fields.lowerBound)
            try refuse(head.stream, .protocolError, &reaction)
        }
    }

    /// Delivers a response without a body. Its fields are already in `reaction.arrivals`.
    private mutating func deliver(
        _ stream: UInt32, status: Int, fields: Range<Int>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        let end = reaction.arrivals.bytes.count
        reaction.arrivals.events.append(.response(stream: stream, status: status, fields: fields, body: end..<end))
        try finish(stream, &reaction)
    }

    /// Stores the head of a response until its body is complete.
    private mutating func hold(
        _ stream: StreamTable.Stream, status: Int, promising count: Int?, _ fields: (HeaderFields, Range<Int>)
    ) {
        var stream = stream
        stream.response = responses.hold(status: status, promising: count, fields.0, in: fields.1)
        streams.update(stream)
    }

    private mutating func concludeTrailers(
        _ head: OpenBlock, _ stream: StreamTable.Stream, fields: Range<Int>, _ reaction: inout Reaction
    ) throws(ConnectionFault) {
        let isValid = head.endsStream && ResponseHead.areTrailers(reaction.arrivals.fields, in: fields)
        reaction.arrivals.fields.truncate(to: fields.lowerBound)
        guard isValid else { return try refuse(head.stream, .protocolError, &reaction) }
        try deliver(stream, &reaction)
    }

    /// Delivers a response that arrived in several frames, unless its length differs from its `content-length`.
    mutating func deliver(_ stream: StreamTable.Stream, _ reaction: inout Reaction) throws(ConnectionFault) {
        let response = responses[stream.response]
        guard response.promisedByteCount ?? response.body.count == response.body.count else {
            return try refuse(stream.id, .protocolError, &reaction)
        }
        responses.deliver(stream.response, of: stream.id, to: &reaction.arrivals)
        try finish(stream.id, &reaction)
    }

    /// Ends a stream whose response is complete. If its request body is still being sent, cancels the rest (RFC 9113
    /// §8.1).
    private mutating func finish(_ stream: UInt32, _ reaction: inout Reaction) throws(ConnectionFault) {
        guard let closed = streams.close(stream, as: .ended) else { return }
        responses.release(closed.response)
        floods.response()
        if uploads.remove(stream) { try answer(&reaction) { $0.appendReset(stream, .cancel) } }
    }

    /// Throws if the peer has already ended the stream (RFC 9113 §5.1).
    @inline(__always)
    func checkNotEnded(_ frame: FrameHeader) throws(ConnectionFault) {
        guard streams.phase(of: frame.stream) != .ended else {
            throw ConnectionFault(.streamClosed, "a frame of type \(frame.rawType) after the end of \(frame.stream)")
        }
    }

    /// Handles a frame for a closed stream.
    ///
    /// Frames may still arrive for a stream that this side reset. After the peer's own RST_STREAM they are a stream
    /// error.
    mutating func answerLate(_ stream: UInt32, _ reaction: inout Reaction) throws(ConnectionFault) {
        try idle()
        guard streams.phase(of: stream) == .resetThere else { return }
        try answer(&reaction) { $0.appendReset(stream, .streamClosed) }
    }

    /// Returns the range of the payload of a HEADERS or DATA frame without its padding.
    @inline(__always)
    func unpadded(_ frame: FrameHeader, _ payload: Span<UInt8>) throws(ConnectionFault) -> Range<Int> {
        guard frame.flags.contains(.padded) else { return 0..<payload.count }
        guard let padding = payload.isEmpty ? nil : payload[0] else {
            throw ConnectionFault(.frameSizeError, "an empty padded frame")
        }
        guard Int(padding) < payload.count else {
            throw ConnectionFault(.protocolError, "padding longer than the frame")
        }
        return 1..<payload.count - Int(padding)
    }

    @inline(__always)
    func checkHeld() throws(ConnectionFault) {
        guard responses.byteCount <= options.limits.heldByteCount else {
            throw ConnectionFault(.enhanceYourCalm, "\(responses.byteCount) bytes of unfinished responses")
        }
    }
}
