/// What a simulated gateway refuses of requests over HTTP/2 of its own accord, as a strict gateway does.
///
/// In this order: method, path, repeated fields; who asks (certificate or provider token); `apns-id`, push type, topic,
/// expiration, priority, collapse id; the payload; the token.
public struct RequestRules: Sendable, Hashable {
    /// The most bytes of a payload (4096).
    public var payloadLimit = 4096
    /// The most bytes of a payload of push type `voip` (5120).
    public var voipPayloadLimit = 5120
    /// Whether a payload that is no JSON object is refused, with `BadRequestPayload`.
    public var refusesOtherThanObjects = true
    /// Whether `apns-push-type` must be there, as newer systems want it.
    public var requiresPushType = false
    /// Tokens that are gone, and since when, in milliseconds since 1970: 410 `Unregistered`.
    public var unregistered: [[UInt8]: Int64] = [:]
    /// Tokens of the other environment: 400 `BadDeviceToken`.
    public var foreign: Set<[UInt8]> = []
    /// Tokens of another app: 400 `DeviceTokenNotForTopic`.
    public var misdirected: Set<[UInt8]> = []
    /// The keys whose provider tokens are good. With none, only certificates are.
    public var keys: [RegisteredKey] = []
    /// How long a connection has to stay with a provider token before it may bring another.
    public var tokenUpdateInterval = Duration.seconds(20 * 60)
    /// How long a provider token is good after it was signed.
    public var tokenLifetime = Duration.seconds(60 * 60)

    /// Creates the rules of a strict gateway that knows every device, and no key.
    public init() {}
}
