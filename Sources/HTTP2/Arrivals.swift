/// What one call of `ConnectionMachine.receive` brought. Meant to be emptied and used again.
package struct Arrivals: Sendable {
    /// One thing the peer said.
    package enum Event: Sendable, Hashable {
        /// The peer's first SETTINGS are here: requests may be sent.
        case ready
        /// Windows or the number of streams grew or fell: ask the machine again. At most one in a call.
        case limitsChanged
        /// A whole response. `fields` are indices into `Arrivals.fields`, `body` into `Arrivals.bytes`. Interim
        /// responses and trailers are left out.
        case response(stream: UInt32, status: Int, fields: Range<Int>, body: Range<Int>)
        /// A stream ended without a response: the peer reset it, or it broke a rule and we did.
        case reset(stream: UInt32, ErrorCode)
        /// The peer takes no more streams and did not process those above `lastStream`. `debug` is in `Arrivals.bytes`.
        case goAway(lastStream: UInt32, ErrorCode, debug: Range<Int>)
        /// The answer to a PING of ours.
        case pong(UInt64)
    }

    /// What happened, in order.
    package var events: [Event] = []
    /// The header fields of the responses in `events`.
    package var fields = HeaderFields()
    /// The bodies and debug data of `events`.
    package var bytes: [UInt8] = []

    /// Creates a list of nothing.
    package init() {}

    /// Forgets everything and keeps the memory for the next call.
    package mutating func removeAll() {
        events.removeAll(keepingCapacity: true)
        fields.removeAll()
        bytes.removeAll(keepingCapacity: true)
    }
}
