package import PushModel

/// Requests that wait for the gateway's answer, by the id of their notification. Several may wait for one.
package struct AwaitedAnswers: Sendable {
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
    package typealias Heard = (app: String, answer: RelayAnswer, requests: [RelayRequest])

    /// The file of a job.
    package struct Job: Hashable, Sendable {
        /// The app.
        package let app: String
        /// The name of the dropped file, as feedback writes it.
        package let file: String

        /// Creates the name of a job.
        package init(app: String, file: String) { (self.app, self.file) = (app, file) }
    }

    /// The requests for one notification.
    private struct Waiting {
        var requests: [RelayRequest] = []
        /// The file of the job that they were dropped with; `nil`: not dropped yet.
        var job: String?
        /// What was heard before the drop, by the file of the job: perhaps an earlier one with the same id.
        var early: [String: RelayAnswer] = [:]
    }

    private let wait: Duration
    private var waiting: [Name: Waiting] = [:]
    /// The notifications of each job whose time runs.
    private var dropped: [Job: [Name]] = [:]
    private var heard: [Heard] = []
    /// The jobs in the order of their deadlines, which are all equally far; those before `first` are over.
    private var order: [(due: Moment, job: Job)] = []
    private var first = 0

    /// Creates an empty collection of requests that wait for this long.
    package init(wait: Duration) {
        self.wait = wait
    }

    /// Whether no request waits.
    package var isEmpty: Bool { waiting.isEmpty }

    /// Adds a request. Its time does not run yet.
    package mutating func add(_ request: RelayRequest, under name: Name) {
        waiting[name, default: Waiting()].requests.append(request)
    }

    /// Lets the time of the requests for notifications run, of those that wait: they were dropped in this job.
    package mutating func start(_ names: [Name], in job: Job, at now: Moment) {
        guard !names.isEmpty else { return }
        dropped[job] = names
        order.append((now + wait, job))
        for name in names {
            guard let early = waiting[name]?.early else { continue }
            waiting[name]?.job = job.file
            waiting[name]?.early = [:]
            if let answer = early[job.file] { record(answer, about: name, in: job.file) }
        }
    }

    /// Records how a notification of a job has ended. Only that of the requests' own job is their answer: a client may repeat
    /// an id that was refused, and then the end of the earlier job may be read late.
    package mutating func record(_ answer: RelayAnswer, about name: Name, in job: String) {
        guard let known = waiting[name] else { return }
        if known.job == nil {
            waiting[name]?.early[job] = answer
        } else if known.job == job {
            heard.append((name.app, answer, take(name)))
        }
    }

    /// Records that a job has ended of which no more will be sent: this is the answer to all that still wait for it. If its
    /// drop has not returned, they wait until their time is up.
    package mutating func record(_ answer: RelayAnswer, aboutAllOf job: Job) {
        for name in dropped[job] ?? [] { record(answer, about: name, in: job.file) }
    }

    /// Removes and returns the requests whose answers were heard.
    package mutating func takeHeard() -> [Heard] {
        defer { heard = [] }
        return heard
    }

    /// Whether answers were heard that nobody has taken.
    package var hasHeard: Bool { !heard.isEmpty }

    /// Removes and returns the requests of a job that still wait. Those of an id that a client has repeated since are another's.
    private mutating func take(_ job: Job) -> [RelayRequest] {
        let names = dropped.removeValue(forKey: job) ?? []
        return names.filter { waiting[$0]?.job == job.file }.flatMap { take($0) }
    }

    /// Removes and returns the requests that wait for a notification.
    package mutating func take(_ name: Name) -> [RelayRequest] { waiting.removeValue(forKey: name)?.requests ?? [] }

    /// Removes and returns all requests whose time runs.
    package mutating func takeStarted() -> [RelayRequest] {
        defer { (order, first) = ([], 0) }
        return order[first...].flatMap { take($0.job) }
    }

    /// Removes and returns the requests that have waited long enough.
    package mutating func takeDue(at now: Moment) -> [RelayRequest] {
        var due: [RelayRequest] = []
        while first < order.count, order[first].due <= now {
            due += take(order[first].job)
            first += 1
        }
        if first > 1024, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return due
    }
}
