/// The client side of an HTTP/2 connection (RFC 9113): consumes bytes from the peer, produces events and bytes to send.
///
/// It performs the protocol's own duties: it acknowledges, returns flow-control windows, refuses invalid frames, and
/// applies the peer's limits. The caller lays requests out on a `RequestSheet`, for streams that `open` numbers.
package struct ConnectionMachine: Sendable {
    /// The settings that stay the same for the whole connection.
    package struct Options: Hashable, Sendable {
        /// The maximum number of open streams, even if the peer allows more.
        package var streamLimit = 1_000
        /// The limits on the memory and work that a peer may cause.
        package var limits = Limits()
        /// The number of the first stream; odd.
        package var firstStream: UInt32 = 1
        /// The value of SPOOL_MARK; `nil`: it is not sent.
        package var spoolMark: UInt32?

        /// Creates the options for an ordinary connection to a gateway.
        package init() {}
    }

    let options: Options
    /// Encodes the header blocks in the order in which they are sent. Its table follows the peer's SETTINGS.
    package var encoder = HeaderEncoder()

    // State received from the peer.
    var settings = PeerSettings()
    var hasSettings = false
    var lastStreamOfGoAway: UInt32?
    var fault: ConnectionFault?
    var floods = FloodGauge()

    // State of this side: streams, bodies and frames sent.
    var streams: StreamTable
    var nextStream: UInt32
    var uploads = Uploads()
    var sendWindow = FlowWindow()
    var pings = 0
    var hasSentGoAway = false

    // Partially received data.
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

    /// Whether the peer's SETTINGS have arrived and the connection has not failed.
    package var isReady: Bool { hasSettings && fault == nil }

    /// Whether no more streams can be opened: a GOAWAY was received or sent, the connection failed, or the numbers are
    /// used up.
    package var isClosing: Bool {
        hasSentGoAway || lastStreamOfGoAway != nil || fault != nil || remainingStreamCount == 0
    }

    /// The number of streams that may be opened now.
    package var room: Int {
        let limit = min(settings.streamLimit ?? .max, options.streamLimit)
        return isReady && !isClosing ? min(max(0, limit - streams.openCount), remainingStreamCount) : 0
    }

    /// Whether a body waits for a window or for its turn.
    package var hasUploads: Bool { !uploads.isEmpty }

    /// How many bytes of bodies the connection's window allows now; negative or 0 if none.
    package var sendWindowByteCount: Int { sendWindow.byteCount }

    /// The number of streams whose response is not complete.
    package var openStreamCount: Int { streams.openCount }

    /// The maximum payload of a frame to the peer. The head of a request on a sheet must fit into it.
    package var frameByteLimit: Int { settings.frameByteLimit }

    /// The longest header list that the peer accepts, or `nil` if it has not set a limit. See
    /// `RequestHead.listByteCount`.
    package var maxHeaderListByteCount: Int? { settings.headerListByteCount }

    /// Whether the stream's response is not complete.
    package func isOpen(_ stream: UInt32) -> Bool { streams.phase(of: stream) == .open }

    /// Returns the streams above `last` whose response is not complete, ascending. Scans all open streams.
    package func openStreams(above last: UInt32) -> [UInt32] {
        streams.openStreams.map(\.id).filter { $0 > last }.sorted()
    }

    /// The number of unused stream numbers. They are odd, below 2³¹, and never reused.
    private var remainingStreamCount: Int { nextStream > 0x7fff_ffff ? 0 : Int(0x7fff_ffff - nextStream) / 2 + 1 }
}
