import APNSModel
import HTTP2

extension Ledger {
    /// What only a notification that came over HTTP/2 has.
    public struct Request: Sendable, Hashable {
        /// The stream that it came on.
        public let stream: UInt32
        /// The `apns-id` that it was answered with: its own, or one that the gateway made.
        public let id: String
        /// All fields of its head in order, repeated ones included.
        public let fields: [Field]

        /// A field of a head.
        public struct Field: Sendable, Hashable {
            /// The name, in lowercase.
            public let name: String
            /// The value.
            public let value: String

            /// A field from its parts.
            public init(_ name: String, _ value: String) {
                self.name = name
                self.value = value
            }
        }

        /// The value of the first field of a name, such as `apns-topic`.
        public subscript(name: String) -> String? {
            fields.first { $0.name == name }?.value
        }

        /// What the head says in `apns-topic`.
        public var topic: String? { self["apns-topic"] }
        /// What the head says in `apns-push-type`.
        public var pushType: String? { self["apns-push-type"] }
        /// What the head says in `apns-collapse-id`.
        public var collapseID: String? { self["apns-collapse-id"] }
    }

    /// What a client did over HTTP/2 and should not have.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The connection's number, from 1.
        public let connection: Int
        /// The stream; 0 for the connection as a whole.
        public let stream: UInt32
        /// What was wrong.
        public let message: String

        /// Where, and what.
        public var description: String { "connection \(connection), stream \(stream): \(message)" }
    }
}

/// A request as the ledger takes it.
struct ArrivedRequest {
    /// What stands for a command in the ledger's entries.
    static let command: UInt8 = 3

    let token: [UInt8]
    let payload: [UInt8]
    let expiry: UInt32?
    let priority: UInt8?
    let head: KeptHead
}

/// The part of a request that only HTTP/2 has, as it is kept.
struct KeptHead: Sendable {
    let stream: UInt32
    let id: [UInt8]
    let fields: HeaderFields

    /// The same for users.
    var request: Ledger.Request {
        Ledger.Request(
            stream: stream, id: String(decoding: id, as: UTF8.self),
            fields: (0..<fields.count).map {
                .init(
                    String(decoding: fields.name(at: $0), as: UTF8.self),
                    String(decoding: fields.value(at: $0), as: UTF8.self))
            })
    }
}

extension Ledger.Entry {
    init(_ arrived: ArrivedRequest, as arrival: Ledger.Arrival) {
        self.init(
            connection: arrival.connection, sequence: arrival.sequence, command: ArrivedRequest.command,
            identifier: nil, expiry: arrived.expiry, priority: arrived.priority, token: arrived.token,
            payload: arrived.payload, outcome: arrival.outcome, epochNanoseconds: arrival.time.nanoseconds,
            request: arrived.head.request)
    }
}
