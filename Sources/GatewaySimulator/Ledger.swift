import APNSBinary
import PushModel

/// The record of the notifications that arrived at a simulated gateway, in order, with their outcomes.
///
/// A value: the result of `Simulator.ledger` does not change afterwards. `Detail` determines how much it keeps.
public struct Ledger: Sendable {
    /// The amount of data that a ledger keeps of each notification.
    public enum Detail: Sendable, Hashable {
        /// Everything: about 120 bytes in addition to token and payload.
        case everything
        /// Counts, and one byte per number, for runs of millions.
        ///
        /// The number of a notification is the last four bytes of its token, big-endian; at FCM, the digits at its address's end. `Tally` reports which numbers
        /// arrived, how often, and whether in order. Numbers from `limit` on are only counted, in `Tally.beyondLimitCount`.
        case numbered(limit: Int)
        /// Counts only.
        case counts
    }

    /// The outcome of a notification.
    public enum Outcome: Sendable, Hashable {
        /// It was complete and valid, and did not follow a refusal on its connection.
        case accepted
        /// It was answered with this status, or would have been if its format had answers.
        case refused(status: UInt8)
        /// It was answered with this status over HTTP/2. The reason is empty if none was given.
        case rejected(status: Int, reason: String)
        /// It was read and discarded, because it followed a refusal or because of a script.
        case discarded
    }

    /// The amount of data that this ledger keeps.
    public let detail: Detail
    /// The number of accepted notifications.
    public private(set) var acceptedCount = 0
    /// The number of refused notifications, including those whose frame could not be parsed.
    public private(set) var refusedCount = 0
    /// The number of discarded notifications.
    public private(set) var discardedCount = 0
    /// The number of refused notifications by status.
    public private(set) var refusedCountByStatus: [UInt8: Int] = [:]
    /// The number of requests refused over HTTP/2, by reason.
    public private(set) var refusedCountByReason: [String: Int] = [:]
    /// The first 100,000 requests that sent no notification; empty unless the detail is `.everything`.
    public private(set) var otherRequests: [OtherRequest] = []
    /// The first 1,000 violations of HTTP/2, or of a strict gateway's expectations, by clients.
    public private(set) var violations: [Violation] = []
    /// The total number of violations.
    public private(set) var violationCount = 0
    /// The number of accepted connections, including those that a script ended before or during the handshake.
    public private(set) var connectionCount = 0
    /// The connections whose handshake succeeded, in order; the first 100,000.
    public private(set) var connections: [Connection] = []
    /// How clients left their connections, by connection number; the first 100,000 that did.
    public private(set) var departures: [Int: Departure] = [:]
    /// The accepted numbers; empty unless the detail is `.numbered`.
    public private(set) var tally: Tally
    /// All notifications in order of arrival; empty unless the detail is `.everything`.
    public private(set) var entries = Entries()
    /// The lines to be written to the file, if there is one.
    private(set) var lines: [UInt8]?

    /// Creates an empty ledger. If it is written to a file, it collects lines until `takeLines()`.
    init(detail: Detail = .everything, writesLines: Bool = false) {
        self.detail = detail
        let limit = if case .numbered(let limit) = detail { limit } else { 0 }
        tally = Tally(limit: limit)
        lines = writesLines ? [] : nil
    }

    /// The number of notifications that arrived: accepted, refused and discarded.
    public var arrivedCount: Int { acceptedCount + refusedCount + discardedCount }

    /// Whether complete notifications are kept or written, and not only counted.
    var keepsEntries: Bool { detail == .everything || lines != nil }

    /// Counts a connection and returns its number, from 1.
    mutating func noteConnection() -> Int {
        connectionCount += 1
        return connectionCount
    }

    /// Records that a connection's handshake succeeded.
    mutating func noteOpened(_ connection: Connection) {
        if connections.count < 100_000 { connections.append(connection) }
    }

    /// Records that the client sent a GOAWAY on a connection.
    mutating func noteGoAway(_ code: UInt32, onConnection number: Int) {
        noteDeparture(from: number) { $0.goAwayCode = code }
    }

    /// Records that the client closed its side of a connection with close_notify.
    mutating func noteGoodbye(onConnection number: Int) {
        noteDeparture(from: number) { $0.saidGoodbye = true }
    }

    private mutating func noteDeparture(from number: Int, _ change: (inout Departure) -> Void) {
        guard departures.count < 100_000 else { return }
        change(&departures[number, default: Departure()])
    }

    /// Counts a refusal of a frame that could not be parsed.
    mutating func noteUnreadable(status: UInt8) {
        count(.refused(status: status))
    }

    /// Records a notification whose frame is in `bytes`.
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

    /// Records a request over HTTP/2.
    mutating func note(_ arrived: ArrivedRequest, as arrival: Arrival) {
        count(arrival.outcome)
        switch detail {
        case .everything:
            entries.append(arrived, as: arrival)
        case .numbered:
            if arrival.outcome == .accepted { tally.note(arrived) }
        case .counts:
            break
        }
        lines?.appendLine(of: Entry(arrived, as: arrival))
    }

    /// Records a request that sent no notification.
    mutating func note(_ request: OtherRequest) {
        if detail == .everything, otherRequests.count < 100_000 { otherRequests.append(request) }
    }

    /// Records a violation by a client.
    mutating func note(_ violation: Violation) {
        violationCount += 1
        if violations.count < 1_000 { violations.append(violation) }
    }

    /// Removes and returns the collected lines.
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

    /// The place and time of a notification's arrival, and its outcome.
    struct Arrival {
        let connection: Int
        let sequence: Int
        let time: WallTime
        let outcome: Outcome
    }

    /// How a client left a connection. A client that only cut the connection has no entry.
    public struct Departure: Sendable, Hashable {
        /// The error code of its GOAWAY frame, or `nil` if it sent none.
        public internal(set) var goAwayCode: UInt32?
        /// Whether it ended its side with the `close_notify` alert of TLS.
        public internal(set) var saidGoodbye = false
    }

    /// A connection whose handshake succeeded.
    public struct Connection: Sendable, Hashable {
        /// Its number, from 1 in the order of acceptance.
        public let number: Int
        /// The subject of the client's certificate, if it presented one.
        public let clientName: String?
        /// The apps that the client's certificate is for.
        public let topics: [String]
        /// The SHA-256 of the client's certificate (DER), if it presented one. A renewed certificate has the same subject.
        public let fingerprint: [UInt8]?
    }
}
