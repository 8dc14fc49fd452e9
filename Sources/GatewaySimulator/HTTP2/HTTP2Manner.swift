/// The behavior of a simulated gateway over HTTP/2, unless a script overrides it.
public struct HTTP2Manner: Sendable, Hashable {
    /// The maximum number of open streams (SETTINGS_MAX_CONCURRENT_STREAMS). Apple's gateway allowed 500 to 1500.
    public var streamLimit = 1_000
    /// The same limit for a client without a certificate until its first success; `nil` means no separate limit.
    public var streamLimitBeforeToken: Int? = 1
    /// The window of each stream in bytes (SETTINGS_INITIAL_WINDOW_SIZE).
    public var streamWindow = 65_535
    /// The window of the connection in bytes, 65,535 or more.
    public var connectionWindow = 65_535
    /// The number of body bytes after which the connection's window is refilled; `nil` means when half of it is used.
    public var windowGrant: Int?
    /// The header table size in bytes for a client's encoder (SETTINGS_HEADER_TABLE_SIZE).
    public var headerTable = 4_096
    /// The maximum frame size in bytes (SETTINGS_MAX_FRAME_SIZE), 16,384 to 16,777,215.
    public var frameLimit = 16_384
    /// The maximum size of a header list in bytes (SETTINGS_MAX_HEADER_LIST_SIZE); a longer one is a violation.
    public var headerListLimit = 8_000
    /// The delay of an answer.
    public var latency = Duration.zero
    /// The maximum additional delay, chosen at random for each answer.
    public var jitter = Duration.zero
    /// Whether answers carry `apns-unique-id`, as those of Apple's sandbox do.
    public var tellsUniqueIDs = false

    /// Creates the ordinary behavior of Apple's gateway.
    public init() {}

    /// The ordinary behavior of FCM: 100 streams.
    public static var fcm: HTTP2Manner {
        var manner = HTTP2Manner()
        (manner.streamLimit, manner.streamLimitBeforeToken) = (100, nil)
        (manner.streamWindow, manner.connectionWindow, manner.headerListLimit) = (65_536, 1 << 20, 16_384)
        return manner
    }
}
