import APNSModel

/// What one notification is sent with besides its token.
struct Delivery: Hashable, Sendable {
    var attributes: Attributes
    var payload: Payload
}

/// Collects recipients in file order and cuts them into batches: runs that share what the wire lets them share.
struct ChunkBuilder: Sendable {
    /// What the recipients of the open run have in common.
    private enum Run: Sendable {
        case none
        /// The job's own delivery, payload included.
        case shared(Delivery)
        /// The attributes; each has its own payload.
        case each(Attributes)
    }

    /// What doubt makes of the job's notifications; set before the first recipient.
    var onDoubt: OnDoubt
    /// When what has no outcome is given up; set before the first recipient.
    var giveUpAt: Moment
    /// Which lane the job is in; set before the first recipient.
    var lane = Lane.normal
    /// What those get who ask for nothing of their own; set before the first recipient.
    var shared: Delivery?
    private let job: JobID
    private var chunkStart = 0
    private var next = 0
    private var run = Run.none
    private var isShared = false
    private var tokens = PackedBytes()
    private var payloads = PackedBytes()
    private var batches: [Batch] = []
    private var rejected: [RejectedRecipient] = []
    private var registrations: [Int: WallTime] = [:]
    /// How many bytes of the file have gone into the chunk.
    private var byteCount = 0

    init(job: JobID, onDoubt: OnDoubt, giveUpAt: Moment) {
        self.job = job
        self.onDoubt = onDoubt
        self.giveUpAt = giveUpAt
    }

    /// How many recipients there were so far, good or bad.
    var count: Int { next }

    /// Whether the chunk should be taken.
    var isFull: Bool {
        next - chunkStart >= JobChunk.capacity || next > chunkStart && byteCount >= JobChunk.byteLimit
    }

    /// Notes how many bytes of the file the next recipient is made of.
    mutating func note(byteCount: Int) {
        self.byteCount += byteCount
    }

    /// Adds a recipient who gets what all get; there must be such a delivery. Allocates nothing of its own.
    ///
    /// - Returns: What is wrong with the token; then nothing was added.
    mutating func append(token spelling: ArraySlice<UInt8>) -> TokenSpelling.Fault? {
        if isShared {
            if let fault = tokens.append(token: spelling.span) { return fault }
        } else {
            guard let shared else { preconditionFailure("no delivery for all") }
            if let fault = decode(spelling, besides: shared) { return fault }
        }
        next += 1
        return nil
    }

    /// Decodes a token into a run of single payloads that it fits into, or into a new run of the shared one.
    private mutating func decode(_ spelling: ArraySlice<UInt8>, besides shared: Delivery) -> TokenSpelling.Fault? {
        let joins = joinsEach(shared)
        if !joins {
            close()
            (run, isShared) = (.shared(shared), true)
        }
        if let fault = tokens.append(token: spelling.span) { return fault }
        if joins { payloads.append(shared.payload.bytes) }
        return nil
    }

    /// How many bytes the token has that was added last.
    var lastTokenByteCount: Int { tokens.range(at: tokens.count - 1).count }

    /// Adds a recipient with a delivery of its own.
    mutating func append(_ delivery: Delivery, token: [UInt8]) {
        if !joinsEach(delivery) {
            close()
            run = .each(delivery.attributes)
        }
        tokens.append(token)
        payloads.append(delivery.payload.bytes)
        next += 1
    }

    /// Adds a recipient that cannot be sent to.
    mutating func reject(_ reason: Reason, token: DeviceToken?) {
        close()
        rejected.append(
            RejectedRecipient(index: next, token: token, refusal: reason.refusal))
        next += 1
    }

    /// Notes when the token of the next recipient was registered.
    mutating func note(registeredAt time: WallTime) {
        registrations[next] = time
    }

    /// Returns what was collected since the last time; `nil` when that is nothing.
    mutating func take() -> JobChunk? {
        close()
        guard next > chunkStart else { return nil }
        defer { (batches, rejected, registrations, chunkStart, byteCount) = ([], [], [:], next, 0) }
        return JobChunk(
            indices: chunkStart..<next, batches: batches, rejected: rejected, registrations: registrations,
            weight: max(next - chunkStart, byteCount * JobChunk.capacity / JobChunk.byteLimit))
    }

    /// Whether the open run is one of single payloads with these attributes.
    private func joinsEach(_ delivery: Delivery) -> Bool {
        guard case .each(let attributes) = run else { return false }
        return attributes == delivery.attributes
    }

    /// Makes a batch of the open run.
    private mutating func close() {
        let first = next - tokens.count
        switch run {
        case .shared(let delivery) where tokens.count > 0:
            let header = header(delivery.attributes)
            append(Batch(header: header, firstIndex: first, tokens: tokens, payloads: .shared(delivery.payload)))
        case .each(let attributes) where tokens.count > 0:
            append(Batch(header: header(attributes), firstIndex: first, tokens: tokens, payloads: .each(payloads)))
        case .none, .shared, .each: break
        }
        (run, isShared) = (.none, false)
    }

    private mutating func append(_ batch: Batch) {
        batches.append(batch)
        (tokens, payloads) = (PackedBytes(reservingByteCount: tokens.bytes.count), PackedBytes())
    }

    private func header(_ attributes: Attributes) -> Batch.Header {
        var header = Batch.Header(job: job, attributes: attributes, onDoubt: onDoubt)
        header.hasOwnTopic = attributes.topic != nil
        header.giveUpAt = giveUpAt
        header.lane = lane
        return header
    }
}
