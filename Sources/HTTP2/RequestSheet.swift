/// Requests laid end to end for one write, in which only stream numbers and holes change from write to write.
///
/// Requests that share head and body differ in some hundred bytes of a thousand: the rest stays where it is, so that a
/// request costs no copy of them. Not copyable, because a copy of the sheet is what it saves.
///
/// A request is one HEADERS and one DATA frame; head and body must each fit into a frame of the peer's.
package struct RequestSheet: ~Copyable, Sendable {
    /// What the requests in `bytes` were laid out for.
    private struct Layout: Sendable {
        let head: EncodedHead
        let body: [UInt8]
    }

    private let byteLimit: Int
    private var bytes: [UInt8] = []
    private var layout: Layout?
    /// How many bytes one request has; 0 before the first is laid out.
    package private(set) var requestByteCount = 0
    /// How many requests there are to write.
    package private(set) var count = 0

    /// Creates a sheet for writes of at most `byteLimit` bytes; a request that is longer is a write of its own.
    package init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Lays out up to `count` requests, at least one if `count` is, and as many as fit. `self.count` says how many.
    ///
    /// What the sheet already holds of the same head and body is left as it is, the fillings of the holes included.
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

    /// Numbers the streams of all requests: `first`, and two more for each that follows.
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

    /// Where in the bytes the given hole of a request begins.
    package func offset(ofHole hole: Int, request: Int) -> Int {
        guard let layout else { return 0 }
        return request * requestByteCount + FrameHeader.byteCount + layout.head.holes[hole]
    }

    /// Lends the bytes of all requests to be filled in. Nothing but holes may be written.
    ///
    /// - Throws: What `body` throws.
    package mutating func withHoles<Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var output = bytes.mutableSpan
        try body(&output)
    }

    /// Lends the requests to be written.
    ///
    /// - Throws: What `body` throws.
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
