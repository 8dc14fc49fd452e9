package import HTTP2

extension ServerSession {
    /// An event caused by the client.
    package enum Event: Sendable {
        /// A complete request. Pass it to `recycle(_:)` after use.
        case request(Request)
        /// The client reset a stream (RST_STREAM).
        case reset(stream: UInt32, ErrorCode)
        /// The client sent a GOAWAY.
        case goAway(lastStream: UInt32, ErrorCode, debug: [UInt8])
        /// The client sent settings, known or not, which have been acknowledged.
        case settings([Setting])
        /// The client acknowledged the oldest unacknowledged settings of the server.
        case settingsAcknowledged
        /// The client sent a PING, which has been answered unless `answersPings` is off.
        case ping(UInt64)
        /// The client sent a PING acknowledgement, whether or not the server had sent a PING.
        case pong(UInt64)
        /// A stream was closed by either side; `.refusedStream` for a stream above the last id of the server's GOAWAY.
        case closed(stream: UInt32, ErrorCode)
        /// The session refused a stream beyond a limit that the client has not acknowledged yet. This is not the
        /// client's fault.
        case refusedBeyondLimit(stream: UInt32)
        /// The client violated the protocol. A stream was reset, or the connection is being closed.
        case violation(Violation)
    }

    /// A request as received.
    package struct Request: Sendable {
        /// The stream to answer on.
        package internal(set) var stream: UInt32 = 0
        /// All fields in order, including repeated ones and those of a trailer.
        package internal(set) var fields = HeaderFields()
        /// Whether fields followed the body.
        package internal(set) var hasTrailer = false
        /// The name of the first field that is not among them because its value, or name, is malformed.
        package internal(set) var malformedField: String?
        /// The body, up to `Options.bodyLimit`.
        package internal(set) var body: [UInt8] = []
        /// The total number of body bytes received.
        package internal(set) var bodyByteCount = 0

        init() {}

        mutating func begin(on stream: UInt32) {
            self.stream = stream
            fields.removeAll()
            hasTrailer = false
            malformedField = nil
            body.removeAll(keepingCapacity: true)
            bodyByteCount = 0
        }
    }

    /// A protocol violation by the client.
    package struct Violation: Sendable, Hashable {
        /// The stream, or 0 for the connection.
        package let stream: UInt32
        /// The problem, as nghttp2 describes it.
        package let message: String
    }
}

extension ServerSession {
    /// The configuration of a session.
    package struct Options: Sendable {
        /// The maximum number of body bytes kept per request.
        package var bodyLimit = 65_536
        /// When to refill the connection's window.
        package var windows = Windows.automatic
        /// Whether to answer PINGs.
        package var answersPings = true

        /// Creates the options of a session that follows the protocol.
        package init() {}
    }

    /// When to let the client send more DATA on the connection. A stream's own window is always refilled as data arrives.
    package enum Windows: Sendable, Hashable {
        /// When half of the window is used.
        case automatic
        /// Only when `grant(_:onStream:)` is called.
        case manual
    }

    /// One parameter of a SETTINGS frame (RFC 9113 §6.5.2).
    package struct Setting: Sendable, Hashable {
        /// What it is about.
        package let identifier: UInt16
        /// Its value.
        package let value: UInt32

        /// Creates a parameter from its identifier, known or not.
        package init(identifier: UInt16, value: UInt32) {
            self.identifier = identifier
            self.value = value
        }

        /// SETTINGS_HEADER_TABLE_SIZE: the maximum size in bytes of the table that the client may use.
        package static func headerTable(_ byteCount: UInt32) -> Setting { Setting(identifier: 1, value: byteCount) }
        /// SETTINGS_MAX_CONCURRENT_STREAMS.
        package static func streams(_ count: UInt32) -> Setting { Setting(identifier: 3, value: count) }
        /// SETTINGS_INITIAL_WINDOW_SIZE of each stream; at most 2^31 - 1.
        package static func streamWindow(_ byteCount: UInt32) -> Setting { Setting(identifier: 4, value: byteCount) }
        /// SETTINGS_MAX_FRAME_SIZE, 16384 to 16777215.
        package static func frame(_ byteCount: UInt32) -> Setting { Setting(identifier: 5, value: byteCount) }
        /// SETTINGS_MAX_HEADER_LIST_SIZE, which is advisory.
        package static func headerList(_ byteCount: UInt32) -> Setting { Setting(identifier: 6, value: byteCount) }
    }
}
