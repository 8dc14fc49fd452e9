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

    private let wait: Duration
    private var requests: [Name: [Request]] = [:]
    /// The ids in the order of their deadlines, which are all equally far; those before `first` are over.
    private var order: [(due: Moment, name: Name)] = []
    private var first = 0

    /// Creates an empty collection of requests that wait for this long.
    package init(wait: Duration) {
        self.wait = wait
    }

    /// Whether no request waits.
    package var isEmpty: Bool { requests.isEmpty }

    /// Adds a request. Its time does not run yet.
    package mutating func add(_ request: Request, under name: Name) {
        requests[name, default: []].append(request)
    }

    /// Lets the time of the requests for a notification run, if there are any.
    package mutating func start(_ name: Name, at now: Moment) {
        if requests[name] != nil { order.append((now + wait, name)) }
    }

    /// Removes and returns the requests that wait for a notification.
    package mutating func take(_ name: Name) -> [Request] { requests.removeValue(forKey: name) ?? [] }

    /// Removes and returns all requests whose time runs.
    package mutating func takeStarted() -> [Request] {
        defer { (order, first) = ([], 0) }
        return order[first...].flatMap { take($0.name) }
    }

    /// Removes and returns the requests that have waited long enough.
    package mutating func takeDue(at now: Moment) -> [Request] {
        var due: [Request] = []
        while first < order.count, order[first].due <= now {
            due += take(order[first].name)
            first += 1
        }
        if first > 1024, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return due
    }
}
