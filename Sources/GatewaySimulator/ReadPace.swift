import PushModel

/// The reading pace of a simulated gateway: unlimited, or a number of bytes per second.
struct ReadPace {
    private var bytesPerSecond: Int?
    private var readableFrom = Moment.zero

    /// Limits the pace from now on.
    mutating func slow(to bytesPerSecond: Int, at now: Moment) {
        (self.bytesPerSecond, readableFrom) = (bytesPerSecond, now)
    }

    /// Records the bytes read, which delay the next read of a slow gateway.
    mutating func didRead(_ byteCount: Int, at now: Moment) {
        guard let bytesPerSecond else { return }
        readableFrom = max(now, readableFrom) + .nanoseconds(1_000_000_000 / Int64(bytesPerSecond)) * byteCount
    }

    /// Returns the step of a shell that is about to read.
    func step(until deadline: Moment?, at now: Moment) -> GatewayPolicy.Step {
        guard let bytesPerSecond else { return .read(atMost: GatewayPolicy.chunkByteCount, until: deadline) }
        guard now < readableFrom else { return .read(atMost: max(1, bytesPerSecond / 10), until: deadline) }
        return .wait(until: deadline.map { min($0, readableFrom) } ?? readableFrom)
    }
}
