import PushModel

/// The notifications that a gateway has to send, with the protocol's rules for those that come back.
protocol WireQueue {
    /// The routes that were ever used, and the one to devices.
    var routes: [Route] { get }
    /// Whether one connection is enough at present.
    var wantsOneConnection: Bool { get }
    /// Whether nothing of a route may be sent now.
    func isBlocked(_ route: Route) -> Bool
    /// Whether any notification waits to be sent now, or to be announced.
    var hasWork: Bool { get }
    /// The number of a lane's notifications that keep others from being submitted.
    func newCount(of lane: Lane) -> Int
    /// Adds new work after all other work of its job.
    mutating func append(_ batch: Batch)
    /// Notes that these batches are announced.
    mutating func announced(_ batches: [Batch])
    /// Removes and returns the batches of a job that wait or back off.
    mutating func remove(_ job: JobID) -> [Batch]
    /// Removes and returns all `count` notifications of a job if none was ever written; `nil` if one was.
    mutating func removeUnwritten(_ job: JobID, count: Int) -> [Batch]?
    /// Returns, for each job where it changed since the last call, the number of notifications that back off.
    mutating func takePausedCounts() -> [JobID: Int]
    /// Whether notifications of jobs on hold are kept apart.
    var hasHeldWork: Bool { get }
    /// When the first job on hold may ask again.
    var nextAsk: Moment? { get }
    /// Lets the jobs on hold whose pause has ended ask again, or, with `one`, the one refused longest ago.
    ///
    /// - Returns: Whether there are any.
    mutating func ask(_ one: Bool, at now: Moment) -> Bool
    /// Ends the pauses of all jobs on hold.
    mutating func hurry(at now: Moment)
    /// When the next pause of a notification ends; `nil` if none backs off.
    var nextRelease: Moment? { get }
    /// Releases the batches whose pause has ended. Returns whether there were any.
    mutating func release(at now: Moment) -> Bool
    /// Releases the paused notifications of one job that is not on hold. Returns whether there is one.
    mutating func releasePaused() -> Bool
}
