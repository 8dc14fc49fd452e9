/// How a simulated gateway behaves over HTTP/2 as long as no script says otherwise.
public struct HTTP2Manner: Sendable, Hashable {
    /// How many streams a client may have open (SETTINGS_MAX_CONCURRENT_STREAMS); Apple's had 500 to 1500.
    public var streamLimit = 1_000
    /// The same until a client that showed no certificate has had its first success; `nil`: no difference is made.
    public var streamLimitBeforeToken: Int? = 1
    /// The window of each stream, in bytes (SETTINGS_INITIAL_WINDOW_SIZE).
    public var streamWindow = 65_535
    /// The window of the connection, in bytes, 65,535 or more.
    public var connectionWindow = 65_535
    /// After how many bytes of bodies the connection's window opens again; `nil`: when half of it is used up.
    public var windowGrant: Int?
    /// How many bytes of table a client's encoder may use (SETTINGS_HEADER_TABLE_SIZE).
    public var headerTable = 4_096
    /// The longest frame a client may send, in bytes (SETTINGS_MAX_FRAME_SIZE), 16,384 to 16,777,215.
    public var frameLimit = 16_384
    /// The longest list of fields, in bytes (SETTINGS_MAX_HEADER_LIST_SIZE); a longer one is a violation.
    public var headerListLimit = 8_000
    /// How long an answer takes.
    public var latency = Duration.zero
    /// By how much an answer takes longer than that at most; each its own while.
    public var jitter = Duration.zero
    /// Whether answers carry `apns-unique-id`, as those of Apple's sandbox do.
    public var tellsUniqueIDs = false

    /// Creates the manner of Apple's gateway at an ordinary time.
    public init() {}
}
