import HTTP2
import NGHTTP2
import PushModel

extension Ledger {
    /// The properties of a notification that exist only over HTTP/2.
    public struct Request: Sendable, Hashable {
        /// The stream of the request.
        public let stream: UInt32
        /// The `apns-id` of the answer: the client's, or one that the gateway created. At FCM, the message's `name`, also if it
        /// was refused.
        public let id: String
        /// All header fields in order, including repeated ones.
        public let fields: [Field]
        /// The member of an FCM message that is its target: `token`, `fid`, `topic` or `condition`. `nil` at Apple's API, and
        /// if the message does not have exactly one.
        public var target: String?

        /// A header field.
        public struct Field: Sendable, Hashable {
            /// The name, in lowercase.
            public let name: String
            /// The value.
            public let value: String

            /// Creates a field.
            public init(_ name: String, _ value: String) {
                self.name = name
                self.value = value
            }
        }

        /// The value of the first field with a name, such as `apns-topic`.
        public subscript(name: String) -> String? {
            fields.first { $0.name == name }?.value
        }

        /// The value of `apns-topic`.
        public var topic: String? { self["apns-topic"] }
        /// The value of `apns-push-type`.
        public var pushType: String? { self["apns-push-type"] }
        /// The value of `apns-collapse-id`.
        public var collapseID: String? { self["apns-collapse-id"] }
    }

    /// A request that sends no notification.
    public struct OtherRequest: Sendable, Hashable {
        /// What such a request is for.
        public enum Purpose: Sendable, Hashable {
            /// Channels of Apple's API.
            case channelManagement
            /// An access token of Google's.
            case accessToken
            /// The check of a message of FCM's that is not sent: `validate_only`.
            case check
        }

        /// What it is for.
        public let purpose: Purpose
        /// The connection's number, from 1.
        public let connection: Int
        /// The head of the request.
        public let request: Request
        /// The body.
        public let body: [UInt8]
        /// The outcome: `accepted` if it was carried out.
        public let outcome: Outcome
    }

    /// A violation of HTTP/2, or of a strict gateway's expectations, by a client.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The connection's number, from 1.
        public let connection: Int
        /// The stream, or 0 for the whole connection.
        public let stream: UInt32
        /// The problem.
        public let message: String

        /// The place and the problem.
        public var description: String { "connection \(connection), stream \(stream): \(message)" }
    }
}

/// A request in the form that the ledger records.
struct ArrivedRequest {
    /// The value of `command` in the ledger's entries.
    static let command: UInt8 = 3

    let token: [UInt8]
    let payload: [UInt8]
    let expiry: UInt32?
    let priority: UInt8?
    let head: KeptHead
}

/// The HTTP/2 part of a request, as the ledger stores it.
struct KeptHead: Sendable {
    let stream: UInt32
    let id: [UInt8]
    let fields: HeaderFields
    var target: String?

    /// The same, in its public form.
    var request: Ledger.Request {
        Ledger.Request(
            stream: stream, id: String(decoding: id, as: UTF8.self),
            fields: (0..<fields.count).map {
                .init(
                    String(decoding: fields.name(at: $0), as: UTF8.self),
                    String(decoding: fields.value(at: $0), as: UTF8.self))
            }, target: target)
    }
}

extension Ledger.OtherRequest {
    init(
        _ purpose: Purpose, _ request: ServerSession.Request, id: ArraySlice<UInt8>, as arrival: Ledger.Arrival
    ) {
        let head = KeptHead(stream: request.stream, id: Array(id), fields: request.fields)
        self.init(
            purpose: purpose, connection: arrival.connection, request: head.request, body: request.body,
            outcome: arrival.outcome)
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
