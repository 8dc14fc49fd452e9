import APNSModel
package import PushModel

/// The next recipients of a job, in file order, both valid and rejected.
package struct JobChunk: Sendable {
    /// The most recipients in a chunk.
    package static let capacity = 1024
    /// The most bytes of the file in a chunk, not counting its last recipient. It is read in one step of a shared thread.
    package static let byteLimit = 256 << 10

    /// The indices of the recipients, valid or rejected.
    package let indices: Range<Int>
    /// The valid recipients: runs that share their attributes.
    package let batches: [Batch]
    /// The rejected recipients.
    package let rejected: [RejectedRecipient]
    /// When tokens were registered, for the recipients that specify it.
    package let registrations: [Int: WallTime]
    /// The cost of reading the chunk, in average recipients: one long recipient counts as many.
    package let weight: Int
}

/// A recipient that is not sent to, because of its address or its message.
package struct RejectedRecipient: Sendable {
    /// Its index in the job.
    package let index: Int
    /// Its `apns-id`, for feedback; `nil` if the gateway takes none.
    package let id: NotificationID?
    /// Its address, unless that is at fault.
    package let address: Address?
    /// The reason, in the words of feedback lines.
    package let refusal: Refusal
}
