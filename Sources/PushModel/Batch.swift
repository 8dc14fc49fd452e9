/// The treatment of a notification whose connection ended after it was written and before the gateway answered.
package enum OnDoubt: String, CaseIterable, Hashable, Sendable {
    /// Resend it: it may arrive twice, but it is never lost.
    case resend
    /// Never resend it: its outcome is `unknown`.
    case report
}

/// A range of consecutive notifications of one job that share everything but the address (and, if paired, the payload).
///
/// The whole program passes notifications around in batches. Slices share their storage with the original batch.
package struct Batch: Sendable {
    /// The payloads of a batch.
    package enum Payloads: Sendable {
        /// The same payload for all notifications.
        case shared(Payload)
        /// One payload for each notification, in the order of the addresses.
        case each(PackedBytes)
    }

    /// The job that the notifications belong to.
    package let job: JobID
    /// The attributes that the notifications share.
    package let attributes: Attributes
    /// The treatment of notifications whose connection ends without an answer.
    package let onDoubt: OnDoubt
    /// Whether the job set the topic itself, so that a wrong topic is the job's fault and not the app's.
    package let hasOwnTopic: Bool
    /// When to stop retrying, by the boot clock, which cannot be set; `nil` means never.
    package let giveUpAt: Moment?
    /// The lane of the job.
    package let lane: Lane
    /// Whether accepted notifications get a line of feedback, too (`record: all`).
    package let recordsAll: Bool
    /// The indices of the notifications in the job.
    package private(set) var indices: Range<Int>

    /// Whether the intent to write these notifications has been recorded; see `WorkQueue`.
    package var isAnnounced = false
    /// Whether the batch has been returned by a connection, so that the gateway may have received it.
    package var wasWritten = false

    private let addresses: PackedBytes
    private let payloads: Payloads
    /// The producer's own ids, one for each address; `nil` if all ids are derived.
    private var ids: [NotificationID]?
    /// The job's index of the first stored address.
    private let base: Int

    /// Creates a batch of all the addresses, which are of the kind that the attributes name. The first one is the job's notification `firstIndex`. The ids are derived.
    package init(header: Header, firstIndex: Int, addresses: PackedBytes, payloads: Payloads) {
        self.job = header.job
        self.attributes = header.attributes
        self.onDoubt = header.onDoubt
        self.hasOwnTopic = header.hasOwnTopic
        self.giveUpAt = header.giveUpAt
        (self.lane, recordsAll) = (header.lane, header.recordsAll)
        self.addresses = addresses
        self.payloads = payloads
        self.base = firstIndex
        self.indices = firstIndex..<firstIndex + addresses.count
    }

    /// Returns the batch with the producer's own ids, one for each address. Must be called before it is sliced.
    package func identified(by ids: [NotificationID]) -> Batch {
        precondition(ids.count == addresses.count, "as many ids as addresses")
        var batch = self
        batch.ids = ids
        return batch
    }

    /// The properties that are the same for consecutive batches of a job.
    package struct Header: Hashable, Sendable {
        /// The job.
        package var job: JobID
        /// The attributes that the notifications share.
        package var attributes: Attributes
        /// The treatment of notifications whose connection ends without an answer.
        package var onDoubt: OnDoubt
        /// Whether the job set the topic itself.
        package var hasOwnTopic = false
        /// When to stop retrying; `nil` means never.
        package var giveUpAt: Moment?
        /// The lane of the job.
        package var lane = Lane.normal
        /// Whether accepted notifications get a line of feedback, too.
        package var recordsAll = false

        /// Creates a header.
        package init(job: JobID, attributes: Attributes, onDoubt: OnDoubt = .resend) {
            self.job = job
            self.attributes = attributes
            self.onDoubt = onDoubt
        }
    }

    /// The number of notifications.
    package var count: Int { indices.count }

    /// Whether the batch has no notifications.
    package var isEmpty: Bool { indices.isEmpty }

    /// Returns the bytes of the address of the job's notification `index`, which must be in `indices`.
    package func addressBytes(at index: Int) -> ArraySlice<UInt8> {
        addresses[index - base]
    }

    /// Returns the address of the job's notification `index`, which must be in `indices`. Copies its bytes.
    package func address(at index: Int) -> Address {
        Address(attributes.addressKind, addressBytes(at: index))
    }

    /// Returns the `apns-id` of the job's notification `index`, which must be in `indices`.
    package func id(at index: Int) -> NotificationID {
        ids?[index - base] ?? NotificationID(job: job, index: index)
    }

    /// All addresses in the batch's storage, end to end, for loops that avoid copies.
    package var addressStorage: [UInt8] { addresses.bytes }

    /// Consecutive addresses of equal length in `addressStorage`.
    package struct UniformAddresses: Hashable, Sendable {
        /// The offset of the first address.
        package let offset: Int
        /// The length of each address in bytes.
        package let byteCount: Int
        /// The number of addresses.
        package let count: Int
    }

    /// Returns the leading addresses of the batch, at most `limit`, that are as long as the first one. The batch must not
    /// be empty.
    package func uniformAddresses(atMost limit: Int) -> UniformAddresses {
        let first = addresses.range(at: indices.lowerBound - base)
        return UniformAddresses(
            offset: first.lowerBound, byteCount: first.count,
            count: addresses.uniformCount(from: indices.lowerBound - base, atMost: min(limit, count)))
    }

    /// The payload that all notifications share, or `nil` if each has its own.
    package var sharedPayload: Payload? {
        switch payloads {
        case .shared(let payload): payload
        case .each: nil
        }
    }

    /// Returns the payload bytes of the job's notification `index`, which must be in `indices`.
    package func payload(at index: Int) -> ArraySlice<UInt8> {
        switch payloads {
        case .shared(let payload): payload.bytes[...]
        case .each(let packed): packed[index - base]
        }
    }

    /// The slice with the job's notifications in `range`, which must lie within `indices`.
    package subscript(range: Range<Int>) -> Batch {
        precondition(range.lowerBound >= indices.lowerBound && range.upperBound <= indices.upperBound)
        var slice = self
        slice.indices = range
        return slice
    }

    /// Extends this slice by `next` if `next` is the adjacent slice of the same original batch.
    ///
    /// - Returns: Whether it did. If not, nothing changed.
    package mutating func merge(_ next: Batch) -> Bool {
        guard next.job == job, next.base == base, next.indices.lowerBound == indices.upperBound,
            next.addresses.bytes.span.isIdentical(to: addresses.bytes.span)
        else { return false }
        indices = indices.lowerBound..<next.indices.upperBound
        return true
    }

    /// Removes the first `count` notifications, or all if there are fewer, and returns them.
    package mutating func removeFirst(_ count: Int) -> Batch {
        let cut = indices.lowerBound + min(count, indices.count)
        let taken = self[indices.lowerBound..<cut]
        indices = cut..<indices.upperBound
        return taken
    }
}

extension [Batch] {
    /// The total number of notifications.
    package var notificationCount: Int { reduce(0) { $0 + $1.count } }
}
