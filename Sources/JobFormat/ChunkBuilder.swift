import APNSModel
import PushModel

/// The parts of a notification other than its address.
struct Delivery: Hashable, Sendable {
    var attributes: Attributes
    var payload: Payload
}

/// Collects recipients in file order and cuts them into batches: runs that share attributes and, if possible, the payload.
struct ChunkBuilder: Sendable {
    /// The common part of the open run's recipients.
    private enum Run: Sendable {
        case none
        /// Attributes and payload are the job's own.
        case shared(Delivery)
        /// The attributes are common; each recipient has its own payload.
        case each(Attributes)
    }

    /// How to treat notifications in doubt; set before the first recipient.
    var onDoubt: OnDoubt
    /// When to give up notifications without an outcome; set before the first recipient.
    var giveUpAt: Moment
    /// The lane of the job; set before the first recipient.
    var lane = Lane.normal
    /// Whether accepted notifications get a line of feedback, too.
    var recordsAll = false
    /// The delivery of recipients without values of their own; set before the first recipient.
    var shared: Delivery?
    /// What a bare token is.
    let tokenKind: Address.Kind
    private let job: JobID
    private var chunkStart = 0
    private var next = 0
    private var run = Run.none
    private var isShared = false
    /// The kind of the open run's addresses, if it is of the shared delivery.
    private var kind = Address.Kind.deviceToken
    private var addresses = PackedBytes()
    private var payloads = PackedBytes()
    private var batches: [Batch] = []
    private var rejected: [RejectedRecipient] = []
    private var registrations: [Int: WallTime] = [:]
    /// The recipients' own ids, by index.
    private var ids: [Int: NotificationID] = [:]
    /// How many bytes of the file this chunk covers.
    private var byteCount = 0

    init(job: JobID, of tokenKind: Address.Kind, onDoubt: OnDoubt, giveUpAt: Moment) {
        (self.job, self.tokenKind) = (job, tokenKind)
        self.onDoubt = onDoubt
        self.giveUpAt = giveUpAt
    }

    /// How many recipients were added so far, valid or not.
    var count: Int { next }

    /// Whether the caller should take the chunk.
    var isFull: Bool {
        next - chunkStart >= JobChunk.capacity || next > chunkStart && byteCount >= JobChunk.byteLimit
    }

    /// Adds the bytes of the file that describe the next recipient.
    mutating func note(byteCount: Int) {
        self.byteCount += byteCount
    }

    /// Adds a recipient of the shared delivery, which must exist. Makes no allocation of its own.
    ///
    /// - Returns: The fault of the token; nothing was added then.
    mutating func append(token spelling: ArraySlice<UInt8>) -> TokenSpelling.Fault? {
        if isShared {
            if let fault = addresses.append(token: spelling.span) { return fault }
        } else {
            guard let shared else { preconditionFailure("no delivery for all") }
            if let fault = decode(spelling, besides: shared) { return fault }
        }
        next += 1
        return nil
    }

    /// Whether the open run is of the shared delivery and of addresses of this kind.
    func takesMore(of kind: Address.Kind) -> Bool { isShared && kind == self.kind }

    /// Adds a recipient by the usual spelling of a token, 64 hexadecimal digits, to the open run, which is of the shared delivery.
    ///
    /// - Returns: Whether it did.
    mutating func append(digits text: Span<UInt8>) -> Bool {
        guard addresses.append(digits: text) else { return false }
        next += 1
        return true
    }

    /// Decodes a token into the open run of single payloads if its attributes match, else into a new run of the shared payload.
    private mutating func decode(_ spelling: ArraySlice<UInt8>, besides shared: Delivery) -> TokenSpelling.Fault? {
        let joins = joinsEach(shared)
        if !joins {
            close()
            (run, isShared) = (.shared(shared), true)
        }
        if let fault = addresses.append(token: spelling.span) { return fault }
        if joins { payloads.append(shared.payload.bytes) }
        return nil
    }

    /// Adds a recipient of the shared delivery, which must exist, by an address that is text. Makes no allocation of its own.
    mutating func append(_ text: ArraySlice<UInt8>, of kind: Address.Kind) {
        if !isShared || kind != self.kind {
            guard var shared else { preconditionFailure("no delivery for all") }
            shared.attributes.addressKind = kind
            if joinsEach(shared) {
                payloads.append(shared.payload.bytes)
            } else {
                close()
                (run, isShared, self.kind) = (.shared(shared), true, kind)
            }
        }
        addresses.append(text)
        next += 1
    }

    /// The number of bytes in the last token added.
    var lastTokenByteCount: Int { addresses.range(at: addresses.count - 1).count }

    /// Adds a recipient with a delivery of its own. The address is of the kind that the delivery's attributes name.
    mutating func append(_ delivery: Delivery, address: [UInt8]) {
        if !joinsEach(delivery) {
            close()
            run = .each(delivery.attributes)
        }
        addresses.append(address)
        payloads.append(delivery.payload.bytes)
        next += 1
    }

    /// Adds a recipient that cannot be sent to.
    mutating func reject(_ refusal: Refusal, address: Address?) {
        close()
        let id = tokenKind.takesID ? id(at: next) : nil
        rejected.append(RejectedRecipient(index: next, id: id, address: address, refusal: refusal))
        next += 1
    }

    /// Records when the token of the next recipient was registered.
    mutating func note(registeredAt time: WallTime) {
        registrations[next] = time
    }

    /// Sets the `apns-id` of the next recipient.
    mutating func note(id: NotificationID) {
        ids[next] = id
    }

    /// Returns everything collected since the last call; `nil` if there is nothing.
    mutating func take() -> JobChunk? {
        close()
        guard next > chunkStart else { return nil }
        defer { (batches, rejected, registrations, ids, chunkStart, byteCount) = ([], [], [:], [:], next, 0) }
        return JobChunk(
            indices: chunkStart..<next, batches: batches, rejected: rejected, registrations: registrations,
            weight: max(next - chunkStart, byteCount * JobChunk.capacity / JobChunk.byteLimit))
    }

    /// Whether the open run is one of single payloads with these attributes.
    private func joinsEach(_ delivery: Delivery) -> Bool {
        guard case .each(let attributes) = run else { return false }
        return attributes == delivery.attributes
    }

    /// Turns the open run into a batch.
    private mutating func close() {
        switch run {
        case .shared(let delivery) where addresses.count > 0:
            append(.shared(delivery.payload), delivery.attributes)
        case .each(let attributes) where addresses.count > 0:
            append(.each(payloads), attributes)
        case .none, .shared, .each: break
        }
        (run, isShared) = (.none, false)
    }

    private mutating func append(_ payloads: Batch.Payloads, _ attributes: Attributes) {
        let first = next - addresses.count
        let batch = Batch(header: header(attributes), firstIndex: first, addresses: addresses, payloads: payloads)
        batches.append(ids.isEmpty ? batch : batch.identified(by: (first..<next).map(id)))
        (addresses, self.payloads) = (PackedBytes(reservingByteCount: addresses.bytes.count), PackedBytes())
    }

    private func id(at index: Int) -> NotificationID { ids[index] ?? NotificationID(job: job, index: index) }

    private func header(_ attributes: Attributes) -> Batch.Header {
        var header = Batch.Header(job: job, attributes: attributes, onDoubt: onDoubt)
        header.hasOwnTopic = attributes.topic != nil
        header.giveUpAt = giveUpAt
        (header.lane, header.recordsAll) = (lane, recordsAll)
        return header
    }
}
