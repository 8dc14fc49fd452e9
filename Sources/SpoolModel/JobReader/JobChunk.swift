package import APNSModel

/// The next recipients of a job, in file order: what can be sent, and what cannot.
package struct JobChunk: Sendable {
    /// The most recipients a chunk holds.
    package static let capacity = 1024
    /// How many bytes of the file a chunk is made of at most, but for its last recipient: what is read at a time is one step
    /// of a thread that others use too.
    package static let byteLimit = 256 << 10

    /// Which recipients these are, good or bad.
    package let indices: Range<Int>
    /// The good ones: runs that share their attributes.
    package let batches: [Batch]
    /// The bad ones.
    package let rejected: [RejectedRecipient]
    /// When their tokens were registered, of those that say so.
    package let registrations: [Int: WallTime]
    /// How many usual recipients reading it has cost: one of a long recipient is worth many.
    package let weight: Int
}

/// A recipient that nothing is sent to, because of its token or of what it was to get.
package struct RejectedRecipient: Sendable {
    /// Its index in the job.
    package let index: Int
    /// Its token, if that was not the fault.
    package let token: DeviceToken?
    /// Why, in the words of feedback lines.
    package let refusal: Refusal
}
