import APNSBinary

/// What a simulated gateway refuses of its own accord, as a strict gateway does.
///
/// In this order: an empty token is status 2, one of fewer than 32 or more than 100 bytes 5, an empty payload 4, one too long for its
/// command 7, a token of `unregistered` 8. A frame that cannot be read is status 128. Command 0 has no answer: its
/// connection is closed without a word, and so is one whose next command is unknown.
public struct GatewayRules: Sendable, Hashable {
    /// The most bytes of a payload, for commands 0, 1 and 2 (256, 256, 2048).
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

    /// How many bytes a token may have: Apple's have 32, and may have up to 100 some day.
    public var tokenByteCounts = 32...100
    /// How long a payload may be.
    public var payloadLimits = PayloadLimits()
    /// Tokens that are refused with status 8.
    public var unregistered: Set<[UInt8]> = [] {
        didSet { unregisteredTokens = TokenSet(unregistered) }
    }
    /// Whether a payload that does not begin with `{` and end with `}` is refused with status 1.
    public var refusesOtherThanObjects = false
    /// Whether the answer to an empty token names 0 instead of the notification, as Apple's sometimes did.
    public var namesZeroForEmptyTokens = false
    /// How long an answer takes; what arrives meanwhile is discarded. Half a second was usual at Apple's.
    public var answerDelay = Duration.zero
    private var unregisteredTokens = TokenSet()

    /// Creates the rules of a strict gateway that knows every token.
    public init() {}

    /// Why a notification is refused, or `nil`.
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
