import PushHTTP2
import PushModel

/// The notifications that an app has to send, in a queue for each route.
struct RoutedQueues: WireQueue {
    /// In place, because an array would copy a queue for each look at it.
    private var queues: InlineArray<2, RequestQueue>
    /// The routes that were ever used, and the one to devices.
    private(set) var routes = [Route.devices]

    init(pauses: RequestQueue.Pauses, announces: Bool) {
        queues = InlineArray { _ in RequestQueue(pauses: pauses, announces: announces) }
    }

    /// The queue of a route.
    subscript(route: Route) -> RequestQueue {
        _read { yield queues[route.rawValue] }
        _modify { yield &queues[route.rawValue] }
    }

    private var count: Int { queues.indices.reduce(0) { $0 + queues[$1].count } }

    /// Always `false`: no request has to be alone.
    var wantsOneConnection: Bool { false }

    func isBlocked(_ route: Route) -> Bool { self[route].isBlocked }

    /// Whether any notification waits to be sent now, or to be announced.
    var hasWork: Bool { queues.indices.contains { !queues[$0].isBlocked || queues[$0].unannouncedCount > 0 } }

    /// Whether notifications of jobs on hold are kept apart.
    var hasHeldWork: Bool { queues.indices.contains { queues[$0].hasHeldWork } }

    /// When the first job on hold may ask again.
    var nextAsk: Moment? { queues.indices.compactMap { queues[$0].nextAsk }.min() }

    /// Lets the jobs on hold whose pause has ended ask again, or, with `one`, the one refused longest ago.
    mutating func ask(_ one: Bool, at now: Moment) -> Bool {
        if one { return queues.indices.contains { queues[$0].askOne(at: now) } }
        return queues.indices.filter { queues[$0].ask(at: now) }.count > 0
    }

    /// Ends the pauses of all jobs on hold.
    mutating func hurry(at now: Moment) {
        for index in queues.indices { queues[index].hurry(at: now) }
    }

    /// Releases the paused notifications of one job that is not on hold. Returns whether there is one.
    mutating func releasePaused() -> Bool { queues.indices.contains { queues[$0].releasePaused() } }

    /// When the next pause ends.
    var nextRelease: Moment? { queues.indices.compactMap { queues[$0].nextRelease }.min() }

    /// The most notifications of a lane in a queue that have not paused.
    func newCount(of lane: Lane) -> Int { queues.indices.map { queues[$0].newCount(of: lane) }.max() ?? 0 }

    mutating func append(_ batch: Batch) {
        let route = Route(batch)
        if !routes.contains(route) { routes.append(route) }
        self[route].append(batch)
    }

    mutating func announced(_ batches: [Batch]) {
        for route in Route.allCases { self[route].announced(batches.filter { Route($0) == route }) }
    }

    mutating func remove(_ job: JobID) -> [Batch] { queues.indices.flatMap { queues[$0].remove(job) } }

    /// As `RequestQueue.removeUnwritten`; all notifications of a job have the same route.
    mutating func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        for index in queues.indices {
            let removed = queues[index].removeUnwritten(job, count: count)
            guard let removed, removed.isEmpty else { return removed }
        }
        return []
    }

    mutating func takePausedCounts() -> [JobID: Int] {
        queues.indices.reduce(into: [:]) { $0.merge(queues[$1].takePausedCounts()) { $1 } }
    }

    mutating func reconfigure(_ pauses: RequestQueue.Pauses) {
        for index in queues.indices { queues[index].reconfigure(pauses) }
    }

    /// Releases the batches whose pause has ended. Returns whether there were any.
    mutating func release(at now: Moment) -> Bool {
        let before = count
        for index in queues.indices { queues[index].release(at: now) }
        return count > before
    }
}
