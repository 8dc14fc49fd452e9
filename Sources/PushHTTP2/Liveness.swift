import PushModel

/// Determines whether a connection lives: asks with a PING after a silence, and knows what is overdue.
///
/// After the program was stopped or the machine slept, all timeouts start again: requests written just before may not
/// have left, and answers could not arrive.
struct Liveness: Sendable {
    private let options: SessionOptions.Timeouts
    private let readyBy: Moment
    private var lastArrival: Moment
    private var lastWrite: Moment
    private var pingSentAt: Moment?
    private var pingCount: UInt64 = 0
    /// When the program or the machine last resumed after a standstill, if it did.
    private var awakeSince = Moment.zero

    /// Begins with an open connection.
    init(_ options: SessionOptions.Timeouts, at now: Moment) {
        self.options = options
        (lastArrival, lastWrite, readyBy) = (now, now, now + options.gateway.connect)
    }

    /// Records that bytes arrived.
    mutating func noteArrival(at now: Moment) { lastArrival = now }

    /// Records that requests were written.
    mutating func noteWrite(at now: Moment) { lastWrite = now }

    /// Records the answer to a PING.
    mutating func notePong() { pingSentAt = nil }

    /// Records a check, before anything is judged. A check more than a second after `due` shows a standstill.
    mutating func look(at now: Moment, due: Moment) {
        if now > due + .seconds(1) { awakeSince = now }
    }

    /// The requests written at this time or before are overdue; `nil` if none can be.
    func overdueSince(at now: Moment) -> Moment? {
        now < awakeSince + options.gateway.answer ? nil : now + (.zero - options.gateway.answer)
    }

    /// The payload of a PING if one is due now, which counts as sent. `oldest` is when the oldest unanswered request was
    /// written.
    mutating func duePing(at now: Moment, oldest: Moment?) -> UInt64? {
        guard pingSentAt == nil, now >= nextPing(oldest) else { return nil }
        pingCount += 1
        pingSentAt = now
        return pingCount
    }

    /// Whether nothing has been written and has arrived for as long as a connection may be idle.
    func isIdle(at now: Moment, oldest: Moment?) -> Bool { oldest == nil && now >= nextPing(nil) }

    /// Whether a PING is unanswered, or SETTINGS were never received, for too long.
    func isDead(at now: Moment, isReady: Bool) -> Bool {
        guard isReady else { return now >= readyBy }
        guard let pingSentAt else { return false }
        return now >= max(pingSentAt, awakeSince) + options.pong
    }

    /// When to check next.
    func nextLook(isReady: Bool, oldest: Moment?) -> Moment {
        guard isReady else { return readyBy }
        let ping = pingSentAt.map { max($0, awakeSince) + options.pong } ?? nextPing(oldest)
        guard let oldest else { return ping }
        return min(ping, max(oldest, awakeSince) + options.gateway.answer)
    }

    private func nextPing(_ oldest: Moment?) -> Moment {
        guard let oldest else { return max(lastArrival, lastWrite) + options.gateway.idle }
        return max(lastArrival, oldest) + options.silencePing
    }
}
