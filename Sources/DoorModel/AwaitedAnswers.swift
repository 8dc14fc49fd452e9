package import APNSModel

/// Requests that wait for the gateway's answer, by the id of their notification. Several may wait for one.
package struct AwaitedAnswers<Request: Sendable>: Sendable {
    private let wait: Duration
    private var requests: [NotificationID: [Request]] = [:]
    /// The ids in the order of their deadlines, which are all equally far; those before `first` are over.
    private var order: [(due: Moment, id: NotificationID)] = []
    private var first = 0

    /// Creates an empty collection of requests that wait for this long.
    package init(wait: Duration) {
        self.wait = wait
    }

    /// Whether no request waits.
    package var isEmpty: Bool { requests.isEmpty }

    /// Adds a request that begins to wait.
    package mutating func add(_ request: Request, under id: NotificationID, at now: Moment) {
        requests[id, default: []].append(request)
        order.append((now + wait, id))
    }

    /// Removes and returns the requests that wait for a notification.
    package mutating func take(_ id: NotificationID) -> [Request] { requests.removeValue(forKey: id) ?? [] }

    /// Removes and returns the requests that have waited long enough.
    package mutating func takeDue(at now: Moment) -> [Request] {
        var due: [Request] = []
        while first < order.count, order[first].due <= now {
            due += take(order[first].id)
            first += 1
        }
        if first > 1024, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return due
    }
}
