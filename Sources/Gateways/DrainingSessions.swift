/// The connections of a gateway that take no more requests and wait for their last answers.
struct DrainingSessions<Session: GatewaySession> {
    /// The connections, by numbers of their own.
    private(set) var byNumber: [Int: Session] = [:]
    /// Those that have no task yet.
    private var unattended: [Int] = []
    private var lastNumber = 0

    /// All of them, in no particular order.
    var all: Dictionary<Int, Session>.Values { byNumber.values }

    /// The number of their notifications that have no outcome.
    var doubtCount: Int { all.reduce(0) { $0 + $1.doubtCount } }

    /// Adds a connection.
    mutating func add(_ session: Session) {
        lastNumber += 1
        byNumber[lastNumber] = session
        unattended.append(lastNumber)
    }

    /// Removes a connection that is closed.
    mutating func remove(_ number: Int) { byNumber[number] = nil }

    /// Returns those for which a task must be started. Returns each once.
    mutating func takeUnattended() -> [Int] {
        defer { unattended = [] }
        return unattended
    }
}
