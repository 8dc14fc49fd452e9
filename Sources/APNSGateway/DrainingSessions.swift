/// The connections of a gateway that take no more requests and wait for their last answers.
struct DrainingSessions {
    /// The connections by a number that is not a slot.
    private(set) var byNumber: [Int: HTTP2Session] = [:]
    /// Those that have no task yet.
    private var unattended: [Int] = []
    private var lastNumber = 0

    /// All of them, in no particular order.
    var all: Dictionary<Int, HTTP2Session>.Values { byNumber.values }

    /// The number of their notifications that have no outcome.
    var doubtCount: Int { all.reduce(0) { $0 + $1.doubtCount } }

    /// Adds a connection.
    mutating func add(_ session: HTTP2Session) {
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
