package import APNSModel

/// Requests that wait for the gateway's answer, by the id of their notification. Several may wait for one.
package struct AwaitedAnswers<Request: Sendable>: Sendable {
    /// A notification. Two apps, and two receivers, may have notifications with one id.
    package struct Name: Hashable, Sendable {
        /// The app.
        package let app: String
        /// The id.
        package let id: NotificationID
        /// The bytes of the token, or the text of the channel.
        package let receiver: [UInt8]

        /// Creates a name.
        package init(app: String, id: NotificationID, to receiver: [UInt8]) {
            (self.app, self.id, self.receiver) = (app, id, receiver)
        }
    }

    /// What was heard of a notification for which requests waited.
    package typealias Heard = (app: String, answer: RelayAnswer, requests: [Request])

    /// The requests for one notification.
    private struct Waiting {
        var requests: [Request] = []
        /// The file of the job that they were dropped with, and when they have waited long enough; `nil`: not dropped yet.
        var dropped: (job: String, due: Moment)?
        /// What was heard before the drop, by the file of the job: perhaps an earlier one with the same id.
        var early: [String: RelayAnswer] = [:]
    }

    private let wait: Duration
    private var waiting: [Name: Waiting] = [:]
    private var heard: [Heard] = []
    /// The ids in the order of their deadlines, which are all equally far; those before `first` are over.
    private var order: [(due: Moment, name: Name)] = []
    private var first = 0

    /// Creates an empty collection of requests that wait for this long.
    package init(wait: Duration) {
        self.wait = wait
    }

    /// Whether no request waits.
    package var isEmpty: Bool { waiting.isEmpty }

    /// Adds a request. Its time does not run yet.
    package mutating func add(_ request: Request, under name: Name) {
        waiting[name, default: Waiting()].requests.append(request)
    }

    /// Lets the time of the requests for a notification run, if there are any: they were dropped in this job.
    package mutating func start(_ name: Name, in job: String, at now: Moment) {
        guard let early = waiting[name]?.early else { return }
        let due = now + wait
        waiting[name]?.dropped = (job, due)
        waiting[name]?.early = [:]
        order.append((due, name))
        if let answer = early[job] { hear(answer, about: name, in: job) }
    }

    /// Records how a notification of a job has ended. Only that of the requests' own job is their answer: a client may repeat
    /// an id that was refused, and then the end of the earlier job may be read late.
    package mutating func hear(_ answer: RelayAnswer, about name: Name, in job: String) {
        guard let known = waiting[name] else { return }
        guard let dropped = known.dropped else {
            waiting[name]?.early[job] = answer
            return
        }
        if dropped.job == job { heard.append((name.app, answer, take(name))) }
    }

    /// Removes and returns the requests whose answers were heard.
    package mutating func takeHeard() -> [Heard] {
        defer { heard = [] }
        return heard
    }

    /// Whether answers were heard that nobody has taken.
    package var hasHeard: Bool { !heard.isEmpty }

    /// Removes and returns the requests whose time ends then. Those of an id that a client has repeated since have their own.
    private mutating func take(_ name: Name, due: Moment) -> [Request] {
        waiting[name]?.dropped?.due == due ? take(name) : []
    }

    /// Removes and returns the requests that wait for a notification.
    package mutating func take(_ name: Name) -> [Request] { waiting.removeValue(forKey: name)?.requests ?? [] }

    /// Removes and returns all requests whose time runs.
    package mutating func takeStarted() -> [Request] {
        defer { (order, first) = ([], 0) }
        return order[first...].flatMap { take($0.name, due: $0.due) }
    }

    /// Removes and returns the requests that have waited long enough.
    package mutating func takeDue(at now: Moment) -> [Request] {
        var due: [Request] = []
        while first < order.count, order[first].due <= now {
            due += take(order[first].name, due: order[first].due)
            first += 1
        }
        if first > 1024, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return due
    }
}
