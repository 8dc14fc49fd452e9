/// A buffer of consecutive requests for one write, in which only stream numbers and holes change from write to write.
///
/// Requests with the same head and body differ in about a hundred bytes of a thousand. The rest stays in the buffer, so
/// sending a request does not copy it. The type is not copyable, because copying the buffer would defeat its purpose.
///
/// A request is one HEADERS and one DATA frame. The head and the body must each fit into one frame of the peer's limit.
package struct RequestSheet: ~Copyable, Sendable {
    /// The head and the body of the requests in `bytes`.
    private struct Layout: Sendable {
        let head: EncodedHead
        let body: [UInt8]
    }

    private let byteLimit: Int
    private var bytes: [UInt8] = []
    private var layout: Layout?
    /// The size of one request in bytes, or 0 before the first one is laid out.
    package private(set) var requestByteCount = 0
    /// The number of requests to write.
    package private(set) var count = 0

    /// Creates a sheet for writes of at most `byteLimit` bytes. A longer request gets a write of its own.
    package init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Lays out up to `count` requests, limited by the size of a write, but at least one if `count` is positive. Sets
    /// `self.count` to the number laid out.
    ///
    /// If the head and the body are unchanged, the existing requests stay, including the contents of their holes.
    package mutating func layOut(_ head: EncodedHead, body: [UInt8], count: Int) {
        if !isLaidOut(for: head, body) { layOutFirst(head, body) }
        let fitting = max(1, byteLimit / requestByteCount)
        self.count = min(max(0, count), fitting)
        let byteCount = self.count * requestByteCount
        guard bytes.count < byteCount else { return }
        let request = Array(bytes[..<requestByteCount])
        bytes.reserveCapacity(byteCount)
        while bytes.count < byteCount { bytes.append(contentsOf: request) }
    }

    /// Sets the stream numbers of all requests: `first`, then two more for each request.
    package mutating func setStreams(from first: UInt32) {
        guard let layout else { return }
        let distance = FrameHeader.byteCount + layout.head.bytes.count
        let (count, step) = (count, requestByteCount)
        var output = bytes.mutableSpan
        var (stream, offset) = (first, FrameHeader.streamOffset)
        for _ in 0..<count {
            output.store(stream, at: offset)
            output.store(stream, at: offset + distance)
            stream &+= 2
            offset += step
        }
    }

    /// Returns the offset of a hole of a request in the bytes.
    package func offset(ofHole hole: Int, request: Int) -> Int {
        guard let layout else { return 0 }
        return request * requestByteCount + FrameHeader.byteCount + layout.head.holes[hole]
    }

    /// Returns the offset of a request's body in the bytes.
    package func bodyOffset(request: Int) -> Int {
        guard let layout else { return 0 }
        return request * requestByteCount + 2 * FrameHeader.byteCount + layout.head.bytes.count
    }

    /// Calls `body` with the bytes of all requests, so that it can fill in the holes. It must write nothing else.
    ///
    /// - Throws: The error that `body` throws.
    package mutating func withHoles<Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var output = bytes.mutableSpan
        try body(&output)
    }

    /// Calls `body` with the bytes of the requests to write.
    ///
    /// - Throws: The error that `body` throws.
    package borrowing func withFrames<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try body(bytes.span.extracting(..<(count * requestByteCount)))
    }

    private func isLaidOut(for head: EncodedHead, _ body: [UInt8]) -> Bool {
        guard let layout else { return false }
        return layout.head.bytes == head.bytes && layout.body == body && layout.head.holes == head.holes
    }

    private mutating func layOutFirst(_ head: EncodedHead, _ body: [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(FrameHeader(.headers, .endHeaders, payloadByteCount: head.bytes.count))
        bytes.append(contentsOf: head.bytes)
        bytes.append(FrameHeader(.data, .endStream, payloadByteCount: body.count))
        bytes.append(contentsOf: body)
        layout = Layout(head: head, body: body)
        requestByteCount = bytes.count
    }
}
