/// The refusals of a simulated gateway over HTTP/2 without a script, like those of a strict gateway.
///
/// Checked in this order: method, path, repeated fields; the client's identity (certificate or provider token);
/// `apns-id`, push type, topic, expiration, priority, collapse id; the payload; the token.
public struct RequestRules: Sendable, Hashable {
    /// The maximum payload in bytes (4096).
    public var payloadLimit = 4096
    /// The maximum payload in bytes for push type `voip` (5120).
    public var voipPayloadLimit = 5120
    /// The maximum payload of a broadcast in bytes (5120).
    public var broadcastPayloadLimit = 5120
    /// What is stored of a channel's broadcasts.
    public enum StoragePolicy: Sendable, Hashable {
        /// Nothing. A broadcast with another expiration than 0 is refused: 400 `BadExpirationDate`.
        case nothing
        /// The latest one.
        case latest
    }
    /// The channels by their base64 id; others are answered 400 `ChannelNotRegistered`. `nil`: every channel exists and stores
    /// the latest broadcast.
    public var channels: [String: StoragePolicy]?
    /// The maximum number of channels of an app (10,000); further ones are refused: 400 `CannotCreateChannelConfig`.
    public var channelLimit = 10_000
    /// Whether broadcast is switched on for the apps; otherwise 400 `FeatureNotEnabled`.
    public var allowsBroadcast = true
    /// Whether a payload that is not a JSON object is refused, with `BadRequestPayload`.
    public var refusesOtherThanObjects = true
    /// Whether `apns-push-type` is required, as by newer systems.
    public var requiresPushType = false
    /// Tokens whose app was removed, with the time in milliseconds since 1970: 410 `Unregistered`.
    public var unregistered: [[UInt8]: Int64] = [:]
    /// Tokens of the other environment: 400 `BadDeviceToken`.
    public var foreign: Set<[UInt8]> = []
    /// Tokens of another app: 400 `DeviceTokenNotForTopic`.
    public var misdirected: Set<[UInt8]> = []
    /// The keys whose provider tokens are accepted. If empty, only certificates are accepted.
    public var keys: [RegisteredKey] = []
    /// The time for which a connection must keep a provider token before it may present another.
    public var tokenUpdateInterval = Duration.seconds(20 * 60)
    /// The lifetime of a provider token after it was signed.
    public var tokenLifetime = Duration.seconds(60 * 60)

    /// Creates the rules of a strict gateway that knows every device and has no keys.
    public init() {}
}
