import APNSBinary

/// The refusals of a simulated gateway without a script, like those of a strict gateway.
///
/// Checked in this order: an empty token gives status 2, one of fewer than 32 or more than 100 bytes 5, an empty payload 4, a
/// payload too long for its command 7, a token in `unregistered` 8. A frame that cannot be parsed gives status 128. Command 0
/// has no answer: its connection is closed without one, and so is a connection with an unknown command.
public struct GatewayRules: Sendable, Hashable {
    /// The maximum payload in bytes for commands 0, 1 and 2 (256, 256, 2048).
    public struct PayloadLimits: Sendable, Hashable {
        /// Command 0.
        public var simple = 256
        /// Command 1.
        public var enhanced = 256
        /// Command 2.
        public var frame = 2048

        /// Creates Apple's documented limits.
        public init() {}
    }

    /// The valid token lengths in bytes. Apple's tokens have 32 and may grow to 100.
    public var tokenByteCounts = 32...100
    /// The maximum length of a payload.
    public var payloadLimits = PayloadLimits()
    /// Tokens that are refused with status 8.
    public var unregistered: Set<[UInt8]> = [] {
        didSet { unregisteredTokens = TokenSet(unregistered) }
    }
    /// Whether a payload that does not begin with `{` and end with `}` is refused with status 1.
    public var refusesOtherThanObjects = false
    /// Whether the answer to an empty token names 0 instead of the notification, as Apple's gateway sometimes did.
    public var namesZeroForEmptyTokens = false
    /// The delay of an answer. Notifications that arrive in the meantime are discarded. Apple's gateway usually took
    /// half a second.
    public var answerDelay = Duration.zero
    private var unregisteredTokens = TokenSet()

    /// Creates the rules of a strict gateway that knows every token.
    public init() {}

    /// Returns the reason to refuse a notification, or `nil`.
    func fault(in frame: NotificationFrame, of bytes: Span<UInt8>) -> Status? {
        if frame.token.isEmpty { return .missingDeviceToken }
        if !tokenByteCounts.contains(frame.token.count) { return .invalidTokenSize }
        if frame.payload.isEmpty { return .missingPayload }
        if frame.payload.count > limit(of: frame.format) { return .invalidPayloadSize }
        if unregisteredTokens.contains(frame.token, of: bytes) { return .invalidToken }
        if refusesOtherThanObjects && !isObject(frame.payload, of: bytes) { return .processingError }
        return nil
    }

    private func limit(of format: FrameFormat) -> Int {
        switch format {
        case .simple: payloadLimits.simple
        case .enhanced: payloadLimits.enhanced
        case .frame: payloadLimits.frame
        }
    }

    private func isObject(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        bytes[payload.lowerBound] == UInt8(ascii: "{") && bytes[payload.upperBound - 1] == UInt8(ascii: "}")
    }
}
