import PushModel

/// A buffer of consecutive frames for one record, in which only identifiers and tokens change from record to record.
///
/// Notifications with the same payload differ in some forty bytes of three hundred. The rest stays in place from one
/// record to the next, so a frame costs no copy of its payload. The type is not copyable, because a copy would defeat
/// that.
package struct FrameSheet: ~Copyable, Sendable {
    /// The properties of the frames laid out in `bytes`.
    private struct Layout: Sendable {
        let format: FrameFormat
        let attributes: Attributes
        let payload: [UInt8]
        let tokenByteCount: Int
        let frameByteCount: Int
    }

    /// The maximum length of one record's frames, in bytes.
    private let byteLimit: Int
    private var bytes: [UInt8] = []
    private var layout: Layout?
    /// The number of `bytes` that belong to the record written last.
    package private(set) var byteCount = 0

    /// Creates a sheet for records of at most `byteLimit` bytes. A longer frame gets a record of its own.
    package init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Passes the frames written last to `body`.
    ///
    /// - Throws: Rethrows from `body`.
    package borrowing func withFrames<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try body(bytes.span.extracting(..<byteCount))
    }

    /// Makes the sheet empty. The next record can still reuse the layout.
    mutating func clear() {
        byteCount = 0
    }

    /// Writes the frames of the first notifications of `run` over the previous record.
    ///
    /// - Parameters:
    ///   - run: At least one notification.
    ///   - format: Their format.
    ///   - sequence: The sequence number of the first one on its connection.
    /// - Returns: The number written, at least 1.
    mutating func write(_ run: Batch, format: FrameFormat, from sequence: UInt64) -> Int {
        guard let payload = run.sharedPayload?.bytes else { return writeEach(run, format: format, from: sequence) }
        let frameByteCount = layOut(run, payload: payload, format: format)
        let limit = min(run.count, max(1, byteLimit / frameByteCount))
        let tokens = run.uniformAddresses(atMost: limit)
        // Tokens of many lengths would result in many short records.
        guard tokens.count == limit else { return writeEach(run, format: format, from: sequence) }
        repeatFrame(frameByteCount, count: tokens.count)
        byteCount = tokens.count * frameByteCount
        patch(run.addressStorage, tokens, format: format, from: sequence)
        return tokens.count
    }
}

extension FrameSheet {
    /// Lays out the first frame, unless the current layout matches. Returns its length.
    private mutating func layOut(_ run: Batch, payload: [UInt8], format: FrameFormat) -> Int {
        let token = run.addressBytes(at: run.indices.lowerBound)
        if let layout, layout.tokenByteCount == token.count, layout.format == format,
            layout.payload.span.isIdentical(to: payload.span), layout.attributes == run.attributes
        {
            return layout.frameByteCount
        }
        bytes.removeAll(keepingCapacity: true)
        var encoder = FrameEncoder(format: format, attributes: run.attributes)
        encoder.append(token: token, payload: payload[...], identifier: 0, to: &bytes)
        layout = Layout(
            format: format, attributes: run.attributes, payload: payload, tokenByteCount: token.count,
            frameByteCount: bytes.count)
        return bytes.count
    }

    /// Repeats the first frame until there are `count` frames.
    private mutating func repeatFrame(_ frameByteCount: Int, count: Int) {
        guard bytes.count < count * frameByteCount else { return }
        let frame = Array(bytes[..<frameByteCount])
        while bytes.count < count * frameByteCount { bytes.append(contentsOf: frame) }
    }

    /// Overwrites identifiers and tokens of the previous record.
    private mutating func patch(
        _ storage: [UInt8], _ tokens: Batch.UniformAddresses, format: FrameFormat, from sequence: UInt64
    ) {
        let stride = byteCount / tokens.count
        let source = storage.span
        var output = bytes.mutableSpan
        for place in 0..<tokens.count {
            let identifier = SentWindow.identifier(of: sequence + UInt64(place))
            let start = tokens.offset + place * tokens.byteCount
            let token = source.extracting(start..<start + tokens.byteCount)
            format.patch(identifier, token, into: &output, at: place * stride)
        }
    }

    /// Writes notifications with individual payloads, or with tokens of several lengths.
    private mutating func writeEach(_ run: Batch, format: FrameFormat, from sequence: UInt64) -> Int {
        layout = nil
        bytes.removeAll(keepingCapacity: true)
        var encoder = FrameEncoder(format: format, attributes: run.attributes)
        var (written, fitting) = (0, 0)
        while written < run.count {
            let index = run.indices.lowerBound + written
            let identifier = SentWindow.identifier(of: sequence + UInt64(written))
            encoder.append(
                token: run.addressBytes(at: index), payload: run.payload(at: index), identifier: identifier, to: &bytes)
            guard bytes.count <= byteLimit || written == 0 else { break }
            written += 1
            fitting = bytes.count
        }
        byteCount = fitting
        return written
    }
}
