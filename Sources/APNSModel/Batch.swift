/// What happens to a notification that was written to a connection which then died without an answer for it.
package enum OnDoubt: String, CaseIterable, Hashable, Sendable {
    /// Send it again: it may arrive twice, it is never lost.
    case resend
    /// Never send it again: its outcome is `unknown`.
    case report
}

/// A run of consecutive notifications of one job that share everything but the token (and, if paired, the payload).
///
/// The batch is the unit in which everything moves through the program. Slices share their storage with the whole.
package struct Batch: Sendable {
    /// The payloads of a batch.
    package enum Payloads: Sendable {
        /// All notifications carry the same one.
        case shared(Payload)
        /// Each has its own, in the order of the tokens.
        case each(PackedBytes)
    }

    /// The job all of them belong to.
    package let job: JobID
    /// What they share.
    package let attributes: Attributes
    /// What a connection that dies without an answer makes of them.
    package let onDoubt: OnDoubt
    /// Whether the job named the topic itself, so that a wrong one is the job's fault and not the app's.
    package let hasOwnTopic: Bool
    /// When to stop trying, by the boot clock, which nobody can set; `nil`: never.
    package let giveUpAt: Moment?
    /// Which lane the job is in.
    package let lane: Lane
    /// Which notifications of the job these are.
    package private(set) var indices: Range<Int>

    /// Whether it was recorded that these are about to be written; see `WorkQueue`.
    package var isAnnounced = false
    /// Whether it has come back from a connection: the gateway may have got it.
    package var wasWritten = false

    private let tokens: PackedBytes
    private let payloads: Payloads
    /// The index of the first token in storage.
    private let base: Int

    /// Creates a batch of all the tokens, the first of which is the job's notification `firstIndex`.
    package init(header: Header, firstIndex: Int, tokens: PackedBytes, payloads: Payloads) {
        self.job = header.job
        self.attributes = header.attributes
        self.onDoubt = header.onDoubt
        self.hasOwnTopic = header.hasOwnTopic
        self.giveUpAt = header.giveUpAt
        self.lane = header.lane
        self.tokens = tokens
        self.payloads = payloads
        self.base = firstIndex
        self.indices = firstIndex..<firstIndex + tokens.count
    }

    /// What does not change from batch to batch of one run.
    package struct Header: Hashable, Sendable {
        /// The job.
        package var job: JobID
        /// What the notifications share.
        package var attributes: Attributes
        /// What doubt makes of them.
        package var onDoubt: OnDoubt
        /// Whether the job named the topic itself.
        package var hasOwnTopic = false
        /// When to stop trying; `nil`: never.
        package var giveUpAt: Moment?
        /// Which lane the job is in.
        package var lane = Lane.normal

        /// Creates a header.
        package init(job: JobID, attributes: Attributes, onDoubt: OnDoubt = .resend) {
            self.job = job
            self.attributes = attributes
            self.onDoubt = onDoubt
        }
    }

    /// How many notifications it holds.
    package var count: Int { indices.count }

    /// Whether nothing is left of it.
    package var isEmpty: Bool { indices.isEmpty }

    /// The token's bytes of the job's notification `index`, which must be in `indices`.
    package func token(at index: Int) -> ArraySlice<UInt8> {
        tokens[index - base]
    }

    /// All tokens that the batch's storage holds, end to end; `tokenRange` tells where each is. For loops without copies.
    package var tokenStorage: [UInt8] { tokens.bytes }

    /// The place in `tokenStorage` of the token of the job's notification `index`, which must be in `indices`.
    package func tokenRange(at index: Int) -> Range<Int> { tokens.range(at: index - base) }

    /// Tokens of one length, end to end in `tokenStorage`.
    package struct UniformTokens: Hashable, Sendable {
        /// Where the first begins.
        package let offset: Int
        /// How long each is.
        package let byteCount: Int
        /// How many there are.
        package let count: Int
    }

    /// The first tokens of the batch, at most `limit` of them, that are as long as the very first. Not for empty batches.
    package func uniformTokens(atMost limit: Int) -> UniformTokens {
        let first = tokens.range(at: indices.lowerBound - base)
        return UniformTokens(
            offset: first.lowerBound, byteCount: first.count,
            count: tokens.uniformCount(from: indices.lowerBound - base, atMost: min(limit, count)))
    }

    /// The payload that all share; `nil` when each has its own.
    package var sharedPayload: Payload? {
        switch payloads {
        case .shared(let payload): payload
        case .each: nil
        }
    }

    /// The payload's bytes of the job's notification `index`, which must be in `indices`.
    package func payload(at index: Int) -> ArraySlice<UInt8> {
        switch payloads {
        case .shared(let payload): payload.bytes[...]
        case .each(let packed): packed[index - base]
        }
    }

    /// The part of the batch that holds the job's notifications in `range`, which must lie within `indices`.
    package subscript(range: Range<Int>) -> Batch {
        precondition(range.lowerBound >= indices.lowerBound && range.upperBound <= indices.upperBound)
        var slice = self
        slice.indices = range
        return slice
    }

    /// Takes in `next` if it is the part that follows of the same whole, from which both were cut.
    ///
    /// - Returns: Whether it is; if not, nothing was changed.
    package mutating func merge(_ next: Batch) -> Bool {
        guard next.job == job, next.base == base, next.indices.lowerBound == indices.upperBound,
            next.tokens.bytes.span.isIdentical(to: tokens.bytes.span)
        else { return false }
        indices = indices.lowerBound..<next.indices.upperBound
        return true
    }

    /// Removes the first `count` notifications, at most all of them, and returns them.
    package mutating func removeFirst(_ count: Int) -> Batch {
        let cut = indices.lowerBound + min(count, indices.count)
        let taken = self[indices.lowerBound..<cut]
        indices = cut..<indices.upperBound
        return taken
    }
}

extension [Batch] {
    /// How many notifications they hold.
    package var notificationCount: Int { reduce(0) { $0 + $1.count } }
}
