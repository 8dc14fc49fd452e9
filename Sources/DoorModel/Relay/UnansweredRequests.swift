package import PushModel

/// The requests that a door has taken in and not answered: until their job is dropped, and, if answers wait for those of the
/// gateway, until that is heard of.
package struct UnansweredRequests: Sendable {
    /// A request, and the ids that it goes by.
    package struct Pending: Sendable {
        /// The request.
        package let request: RelayRequest
        /// How feedback names its notification.
        let name: Name
        /// The id that the client chose and may repeat; `nil` if it chose none.
        package var key: RecentIDs.Key? { request.key }

        /// Creates a request that is to be spooled.
        package init(_ request: RelayRequest, as name: Name) {
            (self.request, self.name) = (request, name)
        }
    }

    /// A notification.
    package typealias Name = AwaitedAnswers.Name

    /// The file of a job.
    package typealias Job = AwaitedAnswers.Job

    /// The requests of one job.
    package typealias Group = RequestGroups.Group

    private var groups: RequestGroups
    /// The requests that repeat one which is being spooled.
    private var followers: [RecentIDs.Key: [RelayRequest]] = [:]
    private var awaited: AwaitedAnswers?
    /// Whether no answer waits for the gateway any more.
    private var hasStopped = false
    /// The requests in jobs that are being written.
    private var writingCount = 0

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - groups: The groups, which are empty.
    ///   - wait: How long an answer waits for that of the gateway; `nil`: it does not.
    package init(_ groups: RequestGroups, wait: Duration?) {
        self.groups = groups
        awaited = wait.map { AwaitedAnswers(wait: $0) }
    }

    // MARK: Jobs

    /// The requests whose job is not dropped yet.
    package var unspooledCount: Int { groups.requestCount + writingCount }

    /// The bytes of those that are not being written yet.
    package var byteCount: Int { groups.byteCount }

    /// When the next job is due; `nil` if there is none.
    package var nextDue: Moment? { groups.nextDue }

    /// Adds a request to the next job of an app.
    ///
    /// - Returns: Whether a job is due earlier than before.
    package mutating func add(_ pending: Pending, line: [UInt8], to app: String, at now: Moment) -> Bool {
        groups.add(pending, line: line, to: app, at: now)
    }

    /// Adds a request that is a job of its own, which is due at once.
    package mutating func add(_ pending: Pending, document: [UInt8], to app: String, at now: Moment) {
        groups.add(pending, document: document, to: app, at: now)
    }

    /// Adds a request that repeats one which is being spooled.
    package mutating func follow(_ key: RecentIDs.Key, with request: RelayRequest) {
        followers[key, default: []].append(request)
    }

    /// Removes and returns the jobs that are due. `conclude` must follow for each.
    package mutating func takeDue(at now: Moment) -> [Group] {
        let due = groups.takeDue(at: now)
        for group in due {
            writingCount += group.requests.count
            // The gateway may have answered before the drop has returned.
            for pending in group.requests { awaited?.add(pending.request, under: pending.name) }
        }
        return due
    }

    /// Records that a job was dropped, as this file, or could not be (`nil`).
    ///
    /// - Returns: The requests to be answered now: none that waits for the gateway, or has its answer.
    package mutating func conclude(_ group: Group, droppedAs job: String?, at now: Moment) -> [RelayRequest] {
        writingCount -= group.requests.count
        var (answered, started) = ([RelayRequest](), [Name]())
        for pending in group.requests {
            let repeated = pending.key.flatMap { followers.removeValue(forKey: $0) } ?? []
            if awaited == nil {
                answered.append(pending.request)
                answered += repeated
            } else if job != nil, !hasStopped {
                for request in repeated { awaited?.add(request, under: pending.name) }
                started.append(pending.name)
            } else {
                answered += awaited?.take(pending.name) ?? []
                answered += repeated
            }
        }
        if let job { awaited?.start(started, in: Job(app: group.app, file: job), at: now) }
        return answered
    }

    // MARK: Answers of the gateway

    /// Whether a request waits for the gateway's answer.
    package var isAwaiting: Bool { awaited.map { !$0.isEmpty } ?? false }

    /// Records how a notification of a job has ended; see `AwaitedAnswers.record`.
    package mutating func record(_ answer: RelayAnswer, about name: Name, in job: String) {
        awaited?.record(answer, about: name, in: job)
    }

    /// Records that a job has ended of which no more will be sent; see `AwaitedAnswers.record`.
    package mutating func record(_ answer: RelayAnswer, aboutAllOf job: Job) {
        awaited?.record(answer, aboutAllOf: job)
    }

    /// Whether answers were heard that nobody has taken.
    package var hasHeard: Bool { awaited?.hasHeard ?? false }

    /// Removes and returns the requests whose answers were heard.
    package mutating func takeHeard() -> [AwaitedAnswers.Heard] { awaited?.takeHeard() ?? [] }

    /// Lets no more answers wait for the gateway. Returns the requests that did, and whose jobs were dropped;
    /// the others are answered when their drops have ended.
    package mutating func stopWaiting() -> [RelayRequest] {
        hasStopped = true
        return awaited?.takeStarted() ?? []
    }

    /// Removes and returns the requests that have waited long enough for the gateway.
    package mutating func takeLate(at now: Moment) -> [RelayRequest] { awaited?.takeDue(at: now) ?? [] }
}
