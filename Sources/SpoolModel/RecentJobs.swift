package import PushModel

/// The names of the jobs that ended last, for late corrections.
package struct RecentJobs {
    private static let limit = 10_000

    private var identities: [JobID: JobIdentity] = [:]
    private var order: [JobID] = []
    private var oldest = 0

    /// Creates an empty list.
    package init() {}

    /// Adds a job, and forgets the oldest one beyond the limit.
    package mutating func add(_ identity: JobIdentity) {
        identities[identity.id] = identity
        if order.count < Self.limit {
            order.append(identity.id)
            return
        }
        identities[order[oldest]] = nil
        order[oldest] = identity.id
        oldest = (oldest + 1) % Self.limit
    }

    /// The names of a job; `nil` if it was forgotten.
    package subscript(id: JobID) -> JobIdentity? { identities[id] }
}
