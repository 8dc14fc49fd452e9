/// The events of one call of `ConnectionMachine.receive`. Meant to be emptied and reused.
package struct Arrivals: Sendable {
    /// One event from the peer.
    package enum Event: Sendable, Hashable {
        /// The peer's first SETTINGS frame arrived: requests may be sent.
        case ready
        /// A window or the stream limit changed: ask the machine again for its capacity. Reported at most once per
        /// call.
        case limitsChanged
        /// A complete response. `fields` are indices into `Arrivals.fields`, `body` into `Arrivals.bytes`. Interim
        /// responses and trailers are omitted.
        case response(stream: UInt32, status: Int, fields: Range<Int>, body: Range<Int>)
        /// A stream ended without a response: the peer reset it, or the machine reset it because the peer broke a rule.
        case reset(stream: UInt32, ErrorCode)
        /// The peer accepts no new streams and did not process those above `lastStream`. `debug` is a range of
        /// `Arrivals.bytes`.
        case goAway(lastStream: UInt32, ErrorCode, debug: Range<Int>)
        /// The acknowledgement of a PING that this side sent.
        case pong(UInt64)
    }

    /// The events, in order of arrival.
    package var events: [Event] = []
    /// The header fields that `events` refers to.
    package var fields = HeaderFields()
    /// The bodies and the debug data that `events` refers to.
    package var bytes: [UInt8] = []

    /// Creates an empty list.
    package init() {}

    /// Removes all events and keeps the memory for the next call.
    package mutating func removeAll() {
        events.removeAll(keepingCapacity: true)
        fields.removeAll()
        bytes.removeAll(keepingCapacity: true)
    }
}
