/// The client's half of an HTTP/2 connection (RFC 9113): bytes in, events and bytes out.
///
/// It does what the protocol asks for by itself (acknowledges, hands windows back, refuses what is wrong) and counts what
/// the peer allows. Requests are laid out on a `RequestSheet`, for streams that `open` numbers.
package struct ConnectionMachine: Sendable {
    /// What does not change during a connection.
    package struct Options: Hashable, Sendable {
        /// How many streams we have open at most, whatever the peer allows.
        package var streamLimit = 1_000
        /// How much a peer may make us keep or do.
        package var limits = Limits()
        /// The number of the first stream; odd.
        package var firstStream: UInt32 = 1

        /// The usual connection to a gateway.
        package init() {}
    }

    let options: Options
    /// Writes the header blocks, in the order in which they are sent. Its table follows the peer's SETTINGS.
    package var encoder = HeaderEncoder()

    // What the peer said.
    var settings = PeerSettings()
    var hasSettings = false
    var lastStreamOfGoAway: UInt32?
    var fault: ConnectionFault?
    var floods = FloodGauge()

    // What we sent.
    var streams: StreamTable
    var nextStream: UInt32
    var uploads = Uploads()
    var sendWindow = FlowWindow()
    var pings = 0
    var hasSentGoAway = false

    // What we received in part.
    var receiveWindow: ReceiveWindow
    var responses = HeldResponses()
    var frameBytes: [UInt8] = []
    var block: OpenBlock?
    var blockBytes: [UInt8] = []

    /// Creates the machine of a new connection.
    package init(options: Options) {
        self.options = options
        streams = StreamTable(streamLimit: options.streamLimit)
        nextStream = options.firstStream | 1
        let window = options.limits.connectionWindowByteCount
        receiveWindow = ReceiveWindow(byteLimit: min(max(window, FlowWindow.initialByteCount), FlowWindow.limit))
    }

    /// Whether the peer's SETTINGS are here and the connection is not lost.
    package var isReady: Bool { hasSettings && fault == nil }

    /// Whether no stream can be opened any more: a GOAWAY was seen or sent, or the numbers are used up.
    package var isClosing: Bool {
        hasSentGoAway || lastStreamOfGoAway != nil || fault != nil || remainingStreamCount == 0
    }

    /// How many streams may be opened now.
    package var room: Int {
        guard isReady, !isClosing else { return 0 }
        let limit = min(settings.streamLimit ?? options.streamLimit, options.streamLimit)
        return min(max(0, limit - streams.openCount), remainingStreamCount)
    }

    /// How many streams wait for the end of their response.
    package var openStreamCount: Int { streams.openCount }

    /// How long a frame of ours may be: what the head of a request on a sheet must fit in.
    package var frameByteLimit: Int { settings.frameByteLimit }

    /// The longest header list the peer says it accepts; `nil` when it does not say. See `RequestHead.listByteCount`.
    package var maxHeaderListByteCount: Int? { settings.headerListByteCount }

    /// Whether the stream waits for the end of its response.
    package func isOpen(_ stream: UInt32) -> Bool { streams.phase(of: stream) == .open }

    /// The streams above `last` that wait for the end of their response, ascending. Costs a look at all of them.
    package func openStreams(above last: UInt32) -> [UInt32] {
        streams.openStreams.map(\.id).filter { $0 > last }.sorted()
    }

    /// Stream numbers are odd, below 2³¹, and never used again.
    private var remainingStreamCount: Int {
        nextStream > 0x7fff_ffff ? 0 : Int(0x7fff_ffff - nextStream) / 2 + 1
    }
}
