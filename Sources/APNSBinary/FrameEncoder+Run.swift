import APNSModel

extension FrameEncoder {
    /// Appends the notifications of `run` until `bytes` has reached `byteLimit`.
    ///
    /// - Parameters:
    ///   - run: Notifications with this encoder's attributes.
    ///   - sequence: The number of the first one on its connection.
    ///   - bytes: What is in it stays.
    ///   - byteLimit: Reached or passed by at most one frame.
    /// - Returns: How many were appended.
    mutating func append(_ run: Batch, from sequence: UInt64, to bytes: inout [UInt8], byteLimit: Int) -> Int {
        guard let payload = run.sharedPayload?.bytes else {
            return appendEach(run, from: sequence, to: &bytes, byteLimit: byteLimit)
        }
        let tokens = run.tokenStorage
        let rest = whatFollowsToken(payload)
        var head: [UInt8] = []
        var tokenByteCount = -1
        var written = 0
        while written < run.count, bytes.count < byteLimit {
            let token = run.tokenRange(at: run.indices.lowerBound + written)
            if token.count != tokenByteCount {
                tokenByteCount = token.count
                head = self.head(tokenByteCount: tokenByteCount, payloadByteCount: payload.count)
            }
            format.patch(SentWindow.identifier(of: sequence + UInt64(written)), into: &head)
            bytes.append(contentsOf: head)
            bytes.append(contentsOf: tokens[token])
            bytes.append(contentsOf: rest)
            written += 1
        }
        return written
    }

    private mutating func appendEach(
        _ run: Batch, from sequence: UInt64, to bytes: inout [UInt8], byteLimit: Int
    ) -> Int {
        var written = 0
        while written < run.count, bytes.count < byteLimit {
            let index = run.indices.lowerBound + written
            let identifier = SentWindow.identifier(of: sequence + UInt64(written))
            append(token: run.token(at: index), payload: run.payload(at: index), identifier: identifier, to: &bytes)
            written += 1
        }
        return written
    }

    private func whatFollowsToken(_ payload: [UInt8]) -> [UInt8] {
        var rest: [UInt8] = format == .frame ? [2] : []
        rest.append(bigEndian: UInt16(payload.count))
        return rest + payload + trailer
    }
}
