extension ConnectionMachine {
    /// Begins the connection: writes the preface, SETTINGS, and a receive window wide enough never to slow the peer.
    package mutating func start(into output: inout [UInt8]) {
        let limits = options.limits
        output.appendPreface()
        let mark = options.spoolMark.map { [(id: SettingID.spoolMark, value: Int($0))] } ?? []
        output.appendSettings([(.enablePush, 0), (.maxHeaderListSize, limits.headerListByteCount)] + mark)
        let window = min(max(limits.connectionWindowByteCount, FlowWindow.initialByteCount), FlowWindow.limit)
        if window > FlowWindow.initialByteCount { output.appendWindowUpdate(0, window - FlowWindow.initialByteCount) }
    }

    /// Returns how many requests with a body of this length may be sent now, each as one HEADERS and one DATA frame.
    ///
    /// Call `pump` first, because waiting bodies have priority. A result of 0 although there is `room` means that a
    /// window or the peer's frame limit is too small for now; use `open(body:)` to send the request piece by piece.
    package func capacity(bodyByteCount: Int) -> Int {
        guard bodyByteCount > 0 else { return room }
        guard bodyByteCount <= settings.initialWindow, bodyByteCount <= settings.frameByteLimit else { return 0 }
        return min(room, max(0, sendWindow.byteCount) / bodyByteCount)
    }

    /// Opens streams for `count` requests, which the caller must send complete and before anything else.
    ///
    /// - Parameters:
    ///   - count: At most `capacity(bodyByteCount:)`.
    ///   - bodyByteCount: The length of each body.
    /// - Returns: The number of the first stream. Each following stream number is two higher.
    package mutating func open(_ count: Int, bodyByteCount: Int) -> UInt32 {
        precondition(count <= capacity(bodyByteCount: bodyByteCount), "more requests than there is room for")
        let first = nextStream
        for _ in 0..<max(0, count) {
            streams.open(nextStream, spending: bodyByteCount)
            nextStream += 2
        }
        sendWindow.spend(max(0, count) * bodyByteCount)
        floods.progress()
        return first
    }

    /// Opens a stream for a request whose body, if any, `pump` sends. The caller first sends its head (see `appendHead`).
    ///
    /// Requires that there is `room`.
    ///
    /// - Parameter body: The bytes of the body, kept until they are sent.
    /// - Returns: The number of the stream.
    package mutating func open(body: [UInt8]) -> UInt32 {
        precondition(room > 0, "more requests than there is room for")
        let stream = nextStream
        streams.open(stream, spending: 0)
        if !body.isEmpty { uploads.append(Upload(stream: stream, body: body)) }
        nextStream += 2
        floods.progress()
        return stream
    }

    /// Writes the head of a request, split into several frames if necessary. Without a body, the head ends the stream.
    ///
    /// - Parameters:
    ///   - head: The header block, its holes filled in.
    ///   - stream: The number that `open(body:)` returned.
    ///   - output: Receives the frames.
    package func appendHead(_ head: EncodedHead, stream: UInt32, into output: inout [UInt8]) {
        var start = 0
        var type = FrameType.headers
        var flags: FrameFlags = uploads.isWaiting(stream) ? [] : .endStream
        repeat {
            let end = min(head.bytes.count, start + settings.frameByteLimit)
            if end == head.bytes.count { flags.insert(.endHeaders) }
            output.append(FrameHeader(type, flags, stream: stream, payloadByteCount: end - start))
            output.append(contentsOf: head.bytes[start..<end])
            (start, type, flags) = (end, .continuation, [])
        } while start < head.bytes.count
    }

    /// Writes as much of the waiting bodies as the windows allow, in the order of their streams. A stream whose own window
    /// is used up stops no other. Costs O(1) for each frame, however many bodies wait.
    ///
    /// One call writes at most `Limits.pumpByteCount` bytes; call again once they are sent.
    ///
    /// - Returns: The streams whose bodies are now completely written.
    @discardableResult
    package mutating func pump(into output: inout [UInt8]) -> [UInt32] {
        guard fault == nil else { return [] }
        var budget = options.limits.pumpByteCount
        var finished: [UInt32] = []
        // A stream that closes takes its body along.
        while sendWindow.byteCount > 0, budget > 0, var upload = uploads.first, var stream = streams[upload.stream] {
            let window = min(settings.initialWindow + Int(stream.credit), sendWindow.byteCount)
            let count = min(upload.remaining, settings.frameByteLimit, window, budget)
            guard count > 0 else {
                upload.isStalled = true
                uploads.update(first: upload)
                continue
            }
            let isLast = count == upload.remaining
            output.append(
                FrameHeader(.data, isLast ? .endStream : [], stream: upload.stream, payloadByteCount: count))
            output.append(contentsOf: upload.body[upload.offset..<upload.offset + count])
            upload.offset += count
            stream.credit -= Int32(clamping: count)
            streams.update(stream)
            sendWindow.spend(count)
            budget -= count
            floods.progress()
            if isLast {
                uploads.remove(upload.stream)
                finished.append(upload.stream)
            } else {
                uploads.update(first: upload)
            }
        }
        return finished
    }

    /// Resets a stream and tells the peer. Does nothing if the stream is not open. Reports no event.
    package mutating func reset(_ stream: UInt32, _ code: ErrorCode, into output: inout [UInt8]) {
        guard fault == nil, let closed = streams.close(stream, as: .resetHere) else { return }
        forget(closed)
        output.appendReset(stream, code)
    }

    /// Forgets a stream without telling the peer, for a peer that will never answer it. Stops sending its body.
    package mutating func abandon(_ stream: UInt32) {
        guard let closed = streams.close(stream, as: .resetHere) else { return }
        forget(closed)
    }

    /// Sends a PING; `Arrivals.Event.pong` reports the answer with the same `payload`.
    package mutating func ping(_ payload: UInt64, into output: inout [UInt8]) {
        guard fault == nil else { return }
        pings += 1
        output.appendPing(payload)
    }

    /// Sends a GOAWAY: this side opens no more streams. Open ones may still be answered.
    package mutating func close(into output: inout [UInt8]) {
        guard fault == nil, !hasSentGoAway else { return }
        hasSentGoAway = true
        output.appendGoAway(.noError)
    }

    /// Releases the state of a closed stream.
    mutating func forget(_ stream: StreamTable.Stream) {
        responses.release(stream.response)
        uploads.remove(stream.id)
    }
}
