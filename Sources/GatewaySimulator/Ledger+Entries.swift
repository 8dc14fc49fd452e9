import APNSBinary
import APNSModel

extension Ledger {
    /// A notification that arrived.
    public struct Entry: Sendable, Hashable {
        /// The connection's number, from 1.
        public let connection: Int
        /// The notification's number on its connection, from 1.
        public let sequence: Int
        /// The command it was sent with: 0, 1 or 2; 3 for a request over HTTP/2, whose path begins with `/3/`.
        public let command: UInt8
        /// What its sender called it with commands 1 and 2; `request` has the `apns-id` of HTTP/2.
        public let identifier: UInt32?
        /// When it expires, in seconds since 1970; 0 for one attempt, `nil` when the frame does not say.
        public let expiry: UInt32?
        /// 10 or 5, or whatever the sender wrote; `nil` when the frame does not say.
        public let priority: UInt8?
        /// The token's bytes.
        public let token: [UInt8]
        /// The payload's bytes.
        public let payload: [UInt8]
        /// What became of it.
        public let outcome: Outcome
        /// When it was read, in nanoseconds since 1970, UTC.
        public let epochNanoseconds: Int64
        /// What only a request over HTTP/2 has.
        public var request: Request?

        /// The payload as text; bytes that are not UTF-8 are replaced.
        public var payloadText: String { String(decoding: payload, as: UTF8.self) }

        /// The token in lowercase hexadecimal.
        public var tokenText: String { DeviceToken(bytes: token).hex }
    }

    /// All notifications in order of arrival, packed: two arrays of bytes and one of records.
    public struct Entries: RandomAccessCollection, Sendable {
        private var records: [Record] = []
        private var tokens = PackedBytes()
        private var payloads = PackedBytes()
        /// The requests' own part; it stays empty while all notifications are binary.
        private var heads: [Int: KeptHead] = [:]

        private struct Record {
            let connection: Int32
            let sequence: Int
            let command: UInt8
            let identifier: UInt32?
            let expiry: UInt32?
            let priority: UInt8?
            let outcome: Outcome
            let time: WallTime
        }

        /// Always 0.
        public var startIndex: Int { 0 }
        /// How many there are.
        public var endIndex: Int { records.count }

        /// The entry at a place.
        public subscript(position: Int) -> Entry {
            let record = records[position]
            return Entry(
                connection: Int(record.connection), sequence: record.sequence, command: record.command,
                identifier: record.identifier, expiry: record.expiry, priority: record.priority,
                token: Array(tokens[position]), payload: Array(payloads[position]), outcome: record.outcome,
                epochNanoseconds: record.time.nanoseconds, request: heads[position]?.request)
        }

        /// What became of the entry at a place; cheaper than the whole entry.
        func outcome(at position: Int) -> Outcome { records[position].outcome }

        mutating func append(_ frame: NotificationFrame, of bytes: Span<UInt8>, as arrival: Arrival) {
            records.append(
                Record(
                    connection: Int32(truncatingIfNeeded: arrival.connection), sequence: arrival.sequence,
                    command: frame.format.rawValue, identifier: frame.identifier, expiry: frame.expiry,
                    priority: frame.priority, outcome: arrival.outcome, time: arrival.time))
            tokens.append(frame.token, of: bytes)
            payloads.append(frame.payload, of: bytes)
        }

        mutating func append(_ arrived: ArrivedRequest, as arrival: Arrival) {
            heads[records.count] = arrived.head
            records.append(
                Record(
                    connection: Int32(truncatingIfNeeded: arrival.connection), sequence: arrival.sequence,
                    command: ArrivedRequest.command, identifier: nil, expiry: arrived.expiry,
                    priority: arrived.priority, outcome: arrival.outcome, time: arrival.time))
            tokens.append(arrived.token)
            payloads.append(arrived.payload)
        }
    }
}

extension Ledger.Entry {
    init(_ frame: NotificationFrame, of bytes: Span<UInt8>, as arrival: Ledger.Arrival) {
        self.init(
            connection: arrival.connection, sequence: arrival.sequence, command: frame.format.rawValue,
            identifier: frame.identifier, expiry: frame.expiry, priority: frame.priority,
            token: frame.token.map { bytes[$0] }, payload: frame.payload.map { bytes[$0] },
            outcome: arrival.outcome, epochNanoseconds: arrival.time.nanoseconds)
    }
}

extension PackedBytes {
    /// Appends the bytes of `range`.
    fileprivate mutating func append(_ range: Range<Int>, of bytes: Span<UInt8>) {
        append { packed in
            packed.reserveCapacity(packed.count + range.count)
            for index in range { packed.append(bytes[index]) }
            return Optional(())
        }
    }
}
