import APNSBinary
import APNSModel
import PushModel

extension Ledger {
    /// A notification that arrived.
    public struct Entry: Sendable, Hashable {
        /// The connection's number, from 1.
        public let connection: Int
        /// The notification's number on its connection, from 1.
        public let sequence: Int
        /// The command: 0, 1 or 2; 3 for a request over HTTP/2.
        public let command: UInt8
        /// The client's identifier, with commands 1 and 2. For HTTP/2, `request` has the `apns-id`.
        public let identifier: UInt32?
        /// The expiration in seconds since 1970; 0 for one attempt, `nil` if the client did not set it.
        public let expiry: UInt32?
        /// The priority: 10, 5 or any other value that the client sent; `nil` if the client did not set it.
        public let priority: UInt8?
        /// The token's bytes. At FCM, the text of the target.
        public let token: [UInt8]
        /// The payload's bytes. At FCM, the complete body.
        public let payload: [UInt8]
        /// The outcome.
        public let outcome: Outcome
        /// The time at which it was read, in nanoseconds since 1970, UTC.
        public let epochNanoseconds: Int64
        /// The properties that exist only over HTTP/2.
        public var request: Request?

        /// The payload as text; bytes that are not UTF-8 are replaced.
        public var payloadText: String { String(decoding: payload, as: UTF8.self) }

        /// The token, a topic or another address of FCM's, as text; bytes that are not UTF-8 are replaced.
        public var addressText: String { String(decoding: token, as: UTF8.self) }

        /// The token in lowercase hexadecimal.
        public var tokenText: String { DeviceToken(bytes: token).hex }
    }

    /// All notifications in order of arrival, in compact form: two arrays of bytes and one of records.
    public struct Entries: RandomAccessCollection, Sendable {
        private var records: [Record] = []
        private var tokens = PackedBytes()
        private var payloads = PackedBytes()
        /// The HTTP/2 parts by position; empty while all notifications are binary.
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
        /// The number of entries.
        public var endIndex: Int { records.count }

        /// The entry at a position.
        public subscript(position: Int) -> Entry {
            let record = records[position]
            return Entry(
                connection: Int(record.connection), sequence: record.sequence, command: record.command,
                identifier: record.identifier, expiry: record.expiry, priority: record.priority,
                token: Array(tokens[position]), payload: Array(payloads[position]), outcome: record.outcome,
                epochNanoseconds: record.time.nanoseconds, request: heads[position]?.request)
        }

        /// Returns the outcome of the entry at a position; cheaper than the whole entry.
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
            return true
        }
    }
}
