package import HTTP2

extension ServerSession {
    /// What a client did.
    package enum Event: Sendable {
        /// A request came to its end. Hand it to `recycle(_:)` when done with it.
        case request(Request)
        /// The client gave up a stream (RST_STREAM).
        case reset(stream: UInt32, ErrorCode)
        /// The client announced that it is leaving.
        case goAway(lastStream: UInt32, ErrorCode, debug: [UInt8])
        /// The client's settings, which have been acknowledged.
        case settings
        /// The client acknowledged settings of ours, the oldest that waited.
        case settingsAcknowledged
        /// A PING, which has been answered unless `answersPings` is off.
        case ping(UInt64)
        /// The answer to a PING of ours, or to none.
        case pong(UInt64)
        /// A stream is over, whoever ended it; `.refusedStream` for one above the last id of a GOAWAY of ours.
        case closed(stream: UInt32, ErrorCode)
        /// A stream beyond a limit that the client has not acknowledged yet: refused, and no fault of the client's.
        case refusedBeyondLimit(stream: UInt32)
        /// The client broke the protocol. A stream was reset, or the connection is being ended.
        case violation(Violation)
    }

    /// A request as it came.
    package struct Request: Sendable {
        /// The stream to answer on.
        package internal(set) var stream: UInt32 = 0
        /// All fields in order, repeated ones and those of a trailer included.
        package internal(set) var fields = HeaderFields()
        /// Whether fields came behind the body.
        package internal(set) var hasTrailer = false
        /// The body, as far as `Options.bodyLimit` goes.
        package internal(set) var body: [UInt8] = []
        /// How many bytes the body had.
        package internal(set) var bodyByteCount = 0

        init() {}

        mutating func begin(on stream: UInt32) {
            self.stream = stream
            fields.removeAll()
            hasTrailer = false
            body.removeAll(keepingCapacity: true)
            bodyByteCount = 0
        }
    }

    /// A fault of the client's.
    package struct Violation: Sendable, Hashable {
        /// The stream, 0 for the connection.
        package let stream: UInt32
        /// What is wrong, in nghttp2's words.
        package let message: String
    }
}

extension ServerSession {
    /// How a session is set up.
    package struct Options: Sendable {
        /// The most bytes of a body that are kept.
        package var bodyLimit = 65_536
        /// When the client may send more on the connection.
        package var windows = Windows.automatic
        /// Whether a PING is answered.
        package var answersPings = true

        /// Creates the options of a session that behaves.
        package init() {}
    }

    /// When the client may send more DATA on the connection; a stream's own window always follows what it brought.
    package enum Windows: Sendable, Hashable {
        /// When half of the window is used up.
        case automatic
        /// As `grant(_:onStream:)` says; never otherwise.
        case manual
    }

    /// One parameter of a SETTINGS frame (RFC 9113 §6.5.2).
    package struct Setting: Sendable, Hashable {
        let identifier: UInt16
        let value: UInt32

        /// A parameter by its number, known or not.
        package init(identifier: UInt16, value: UInt32) {
            self.identifier = identifier
            self.value = value
        }

        /// SETTINGS_HEADER_TABLE_SIZE: bytes of the table that the client may use.
        package static func headerTable(_ byteCount: UInt32) -> Setting { Setting(identifier: 1, value: byteCount) }
        /// SETTINGS_MAX_CONCURRENT_STREAMS.
        package static func streams(_ count: UInt32) -> Setting { Setting(identifier: 3, value: count) }
        /// SETTINGS_INITIAL_WINDOW_SIZE, of each stream; at most 2^31 - 1.
        package static func streamWindow(_ byteCount: UInt32) -> Setting { Setting(identifier: 4, value: byteCount) }
        /// SETTINGS_MAX_FRAME_SIZE, 16384 to 16777215.
        package static func frame(_ byteCount: UInt32) -> Setting { Setting(identifier: 5, value: byteCount) }
        /// SETTINGS_MAX_HEADER_LIST_SIZE, which is advice.
        package static func headerList(_ byteCount: UInt32) -> Setting { Setting(identifier: 6, value: byteCount) }
    }
}
