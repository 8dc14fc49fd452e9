/// The jobs that were dropped lately under an `Idempotency-Key`, so that a request that a client repeats is answered with the first
/// job.
///
/// The daemon compares the ids of jobs, and sends one of each. So a job that is forgotten here too early is not sent twice: its
/// repetition gets a name of its own, and fails as a duplicate.
package struct NamedJobs<Answer: Sendable>: Sendable {
    /// A client's own name of a job.
    package struct Name: Hashable, Sendable {
        private let app: String
        private let key: String

        /// Creates a name. Each app has its own, which its producers share, as it has ids of jobs.
        package init(_ key: String, app: String) { (self.key, self.app) = (key, app) }
    }

    /// What tells one job from another.
    package struct Origin: Hashable, Sendable {
        private let producer: String
        private let fingerprint: [UInt64]

        /// Creates an origin.
        package init(_ producer: String, _ fingerprint: [UInt64]) {
            (self.producer, self.fingerprint) = (producer, fingerprint)
        }
    }

    private enum State {
        case begun
        case dropped(Answer, Origin)
    }

    private var states: [Name: State] = [:]
    /// The names of dropped jobs, the oldest first; those before `first` are forgotten.
    private var order: [Name] = []
    private var first = 0
    private let capacity: Int

    /// Creates an empty memory for this number of jobs; beyond, the oldest are forgotten.
    package init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Begins a job, unless it was dropped already. End it with `drop` or `giveUp`.
    ///
    /// - Parameters:
    ///   - name: The client's name of the job.
    ///   - origin: Who drops the job, and its fingerprint.
    /// - Returns: The answer to the first request; `nil` if this is it.
    /// - Throws: The problem: the name is another job's, or that of a job which is just being dropped.
    package mutating func begin(_ name: Name, _ origin: Origin) throws(APIProblem) -> Answer? {
        switch states[name] {
        case nil:
            states[name] = .begun
            return nil
        case .begun:
            var problem = APIProblem(
                409, "a request with this Idempotency-Key is being carried out", remedy: "send it again a little later")
            problem.retryAfter = 1
            throw problem
        case .dropped(let answer, let known):
            guard known == origin else {
                throw APIProblem(
                    422, "the Idempotency-Key is that of another job of this app",
                    remedy: "use a key of its own for each job, also of other producers")
            }
            return answer
        }
    }

    /// Notes that a job was dropped.
    package mutating func drop(_ name: Name, _ origin: Origin, _ answer: Answer) {
        states[name] = .dropped(answer, origin)
        order.append(name)
        guard order.count - first > capacity else { return }
        states[order[first]] = nil
        first += 1
        guard first > capacity else { return }
        order.removeFirst(first)
        first = 0
    }

    /// Forgets jobs that were taken back.
    package mutating func forget(where isTakenBack: (Answer) -> Bool) {
        states = states.filter { _, state in
            guard case .dropped(let answer, _) = state else { return true }
            return !isTakenBack(answer)
        }
    }

    /// Notes that a job was not dropped: a later request with its name is a first one.
    package mutating func giveUp(_ name: Name) { states[name] = nil }
}
