/// The refusals of a simulated FCM without a script, like those of a strict one.
///
/// Checked in this order: method and path; the access token; the project's API; the quota; the query and the message; the
/// account's right; the target.
public struct FCMRules: Sendable, Hashable {
    /// The projects whose service accounts get access tokens. If empty, nobody may send.
    public var projects: [FCMProject] = []
    /// Registration tokens and installation ids of apps that were removed: 404 `UNREGISTERED`.
    public var unregistered: Set<String> = []
    /// Registration tokens and installation ids of another project: 403 `SENDER_ID_MISMATCH`.
    public var foreign: Set<String> = []
    /// Registration tokens and installation ids of iOS and web apps for which the project has no valid key of Apple's gateway
    /// or of Web Push: 401 `THIRD_PARTY_AUTH_ERROR`.
    public var withoutPlatformKey: Set<String> = []
    /// Registration tokens, installation ids and topics that get too many messages: 429 `QUOTA_EXCEEDED`, which names a device
    /// or a topic.
    public var throttled: Set<String> = []
    /// How many messages a project may send; `nil` means any number. More are refused: 429 `QUOTA_EXCEEDED`, which names the
    /// project.
    public var quota: Quota?
    /// How long an access token is valid.
    public var accessTokenLifetime = Duration.seconds(3599)

    /// The messages that a project may send, refused ones included, unless the quota refused them.
    public struct Quota: Sendable, Hashable {
        /// The number of messages in a window.
        public var messageCount: Int
        /// The length of a window, which begins with the first message after the one before.
        public var window = Duration.seconds(60)
        /// The seconds to put into the field `retry-after`; `nil` omits it.
        public var retryAfter: Int?

        /// Creates a quota for windows of a minute, as Google's, whose answers omit `retry-after`.
        public init(messageCount: Int) {
            self.messageCount = messageCount
        }
    }

    /// Creates the rules of a strict FCM that knows every address and no project.
    public init() {}
}
