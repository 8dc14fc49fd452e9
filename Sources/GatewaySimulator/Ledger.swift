import APNSBinary
import APNSModel

/// What arrived at a simulated gateway, in order, and what became of it.
///
/// A value: what `Simulator.ledger` returned does not change any more. How much it keeps is its `Detail`.
public struct Ledger: Sendable {
    /// How much a ledger keeps of each notification.
    public enum Detail: Sendable, Hashable {
        /// All of it: about 120 bytes besides token and payload.
        case everything
        /// Counts, and one byte for each number, for runs of millions.
        ///
        /// The number of a notification is the last four bytes of its token, big-endian; `Tally` tells which came, how
        /// often, and whether in order. Numbers from `limit` on are only counted, in `Tally.beyondLimitCount`.
        case numbered(limit: Int)
        /// Counts only.
        case counts
    }

    /// What became of a notification.
    public enum Outcome: Sendable, Hashable {
        /// It was read whole, found good, and not behind a refusal on its connection.
        case accepted
        /// It was answered with this status, or would have been if its format had an answer.
        case refused(status: UInt8)
        /// It was answered so over HTTP/2; the reason is empty if none was given.
        case rejected(status: Int, reason: String)
        /// It was read and thrown away: it came behind a refusal, or a script said so.
        case discarded
    }

    /// How much this ledger keeps.
    public let detail: Detail
    /// How many notifications were accepted.
    public private(set) var acceptedCount = 0
    /// How many notifications were refused, those included whose frame could not be read.
    public private(set) var refusedCount = 0
    /// How many notifications were read and thrown away.
    public private(set) var discardedCount = 0
    /// How many notifications were refused with each status.
    public private(set) var refusedCountByStatus: [UInt8: Int] = [:]
    /// How many requests over HTTP/2 were refused with each reason.
    public private(set) var refusedCountByReason: [String: Int] = [:]
    /// What clients did over HTTP/2 that the protocol, or a strict gateway, does not allow; the first 1,000.
    public private(set) var violations: [Violation] = []
    /// How many violations there were.
    public private(set) var violationCount = 0
    /// How many connections were accepted, those included that a script ended before or in the handshake.
    public private(set) var connectionCount = 0
    /// The connections whose handshake succeeded, in order; the first 100,000.
    public private(set) var connections: [Connection] = []
    /// How clients took their leave of connections, by their numbers; of the first 100,000 that did.
    public private(set) var departures: [Int: Departure] = [:]
    /// Which numbers were accepted; empty unless the detail is `.numbered`.
    public private(set) var tally: Tally
    /// All notifications, in order of arrival; empty unless the detail is `.everything`.
    public private(set) var entries = Entries()
    /// Lines that wait to be written to the file, if there is one.
    private(set) var lines: [UInt8]?

    /// Creates an empty ledger. If it is to be written to a file, it collects lines until `takeLines()`.
    init(detail: Detail = .everything, writesLines: Bool = false) {
        self.detail = detail
        let limit = if case .numbered(let limit) = detail { limit } else { 0 }
        tally = Tally(limit: limit)
        lines = writesLines ? [] : nil
    }

    /// How many notifications arrived: accepted, refused and discarded.
    public var arrivedCount: Int { acceptedCount + refusedCount + discardedCount }

    /// Whether whole notifications are kept or written, and not only counted.
    var keepsEntries: Bool { detail == .everything || lines != nil }

    /// Counts a connection and returns its number, from 1.
    mutating func noteConnection() -> Int {
        connectionCount += 1
        return connectionCount
    }

    /// Notes that a connection's handshake succeeded.
    mutating func noteOpened(_ connection: Connection) {
        if connections.count < 100_000 { connections.append(connection) }
    }

    /// Notes that the client announced over HTTP/2 that it is leaving a connection.
    mutating func noteGoAway(_ code: UInt32, onConnection number: Int) {
        noteDeparture(from: number) { $0.goAwayCode = code }
    }

    /// Notes that the client ended its side of a connection in good order.
    mutating func noteGoodbye(onConnection number: Int) {
        noteDeparture(from: number) { $0.saidGoodbye = true }
    }

    private mutating func noteDeparture(from number: Int, _ change: (inout Departure) -> Void) {
        guard departures.count < 100_000 else { return }
        change(&departures[number, default: Departure()])
    }

    /// Counts a refusal of a frame that could not be read.
    mutating func noteUnreadable(status: UInt8) {
        count(.refused(status: status))
    }

    /// Notes a notification that lies in `bytes`.
    mutating func note(_ frame: NotificationFrame, of bytes: Span<UInt8>, as arrival: Arrival) {
        count(arrival.outcome)
        switch detail {
        case .everything:
            entries.append(frame, of: bytes, as: arrival)
        case .numbered:
            if arrival.outcome == .accepted { tally.note(frame.token, of: bytes) }
        case .counts:
            break
        }
        lines?.appendLine(of: Entry(frame, of: bytes, as: arrival))
    }

    /// Notes a request over HTTP/2.
    mutating func note(_ arrived: ArrivedRequest, as arrival: Arrival) {
        count(arrival.outcome)
        switch detail {
        case .everything:
            entries.append(arrived, as: arrival)
        case .numbered:
            if arrival.outcome == .accepted { tally.note(arrived.token.indices, of: arrived.token.span) }
        case .counts:
            break
        }
        lines?.appendLine(of: Entry(arrived, as: arrival))
    }

    /// Notes what a client should not have done.
    mutating func note(_ violation: Violation) {
        violationCount += 1
        if violations.count < 1_000 { violations.append(violation) }
    }

    /// Returns the lines that were collected and forgets them.
    mutating func takeLines() -> [UInt8] {
        guard let taken = lines, !taken.isEmpty else { return [] }
        lines = []
        return taken
    }

    private mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .accepted: acceptedCount += 1
        case .discarded: discardedCount += 1
        case .refused(let status):
            refusedCount += 1
            refusedCountByStatus[status, default: 0] += 1
        case .rejected(_, let reason):
            refusedCount += 1
            refusedCountByReason[reason, default: 0] += 1
        }
    }

    /// Where and when a notification arrived, and what became of it.
    struct Arrival {
        let connection: Int
        let sequence: Int
        let time: WallTime
        let outcome: Outcome
    }

    /// How a client took its leave of a connection. One that only cut it took none.
    public struct Departure: Sendable, Hashable {
        /// The error code of its GOAWAY frame; `nil`: it sent none.
        public internal(set) var goAwayCode: UInt32?
        /// Whether it ended its side with the goodbye of TLS (`close_notify`).
        public internal(set) var saidGoodbye = false
    }

    /// A connection whose handshake succeeded.
    public struct Connection: Sendable, Hashable {
        /// Its number, from 1 in the order of acceptance.
        public let number: Int
        /// The subject of the client's certificate, if it showed one.
        public let clientName: String?
        /// The apps that the client's certificate is for.
        public let topics: [String]
        /// SHA-256 over the client's certificate (DER), if it showed one: a renewed one has the same subject.
        public let fingerprint: [UInt8]?
    }
}
