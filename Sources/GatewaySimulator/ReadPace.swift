import APNSModel

/// How fast a simulated gateway reads: at once, or so many bytes a second.
struct ReadPace {
    private var bytesPerSecond: Int?
    private var readableFrom = Moment.zero

    /// Reads no faster than this from now on.
    mutating func slow(to bytesPerSecond: Int, at now: Moment) {
        (self.bytesPerSecond, readableFrom) = (bytesPerSecond, now)
    }

    /// Notes that so many bytes were read, which a slow gateway has to get over.
    mutating func didRead(_ byteCount: Int, at now: Moment) {
        guard let bytesPerSecond else { return }
        readableFrom = max(now, readableFrom) + .nanoseconds(1_000_000_000 / Int64(bytesPerSecond)) * byteCount
    }

    /// What a shell that is to read has to do now.
    func step(until deadline: Moment?, at now: Moment) -> GatewayPolicy.Step {
        guard let bytesPerSecond else { return .read(atMost: GatewayPolicy.chunkByteCount, until: deadline) }
        guard now < readableFrom else { return .read(atMost: max(1, bytesPerSecond / 10), until: deadline) }
        return .wait(until: deadline.map { min($0, readableFrom) } ?? readableFrom)
    }
}
