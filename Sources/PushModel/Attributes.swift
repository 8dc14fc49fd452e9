package import APNSModel

/// The time until which the gateway may retry, in whole seconds since 1970; 0 asks for a single attempt.
package struct Expiration: Hashable, Sendable {
    /// The seconds, never negative.
    package let epochSeconds: Int64

    /// Creates an expiration; negative seconds count as 0.
    package init(epochSeconds: Int64) {
        self.epochSeconds = max(0, epochSeconds)
    }

    /// Creates what a client asks a gateway for: a single attempt if the time has passed.
    package init(requested epochSeconds: Int64, at now: WallTime) {
        self.init(epochSeconds: epochSeconds > now.epochSeconds ? epochSeconds : 0)
    }

    /// A single attempt: the gateway does not store the notification.
    package static let singleAttempt = Expiration(epochSeconds: 0)

    /// Whether the expiration has passed. A single attempt never expires.
    package func hasPassed(at time: WallTime) -> Bool {
        epochSeconds != 0 && epochSeconds <= time.epochSeconds
    }
}

/// The attributes that all notifications of a batch share, apart from the payload.
package struct Attributes: Hashable, Sendable {
    /// The topic that the job sets, with its suffix, or `nil` for the app's topic.
    package var topic: String?
    /// The push type.
    package var pushType: PushType
    /// The delivery priority.
    package var priority: Priority
    /// The time after which the notification must not be delivered.
    package var expiration: Expiration
    /// What the notifications are sent to.
    package var addressKind = Address.Kind.deviceToken
    /// The collapse identifier, at most 64 bytes. On the device, a notification replaces earlier ones with the same
    /// identifier.
    package var collapseID: String? {
        get { collapsing?.id }
        set { collapsing = newValue.map(Collapsing.init) }
    }

    /// The collapse identifier as an object, since few notifications have one: attributes are copied with each batch, and
    /// so large a value would be copied by its metadata.
    private var collapsing: Collapsing?

    /// Creates a set of attributes. The caller has checked that they are compatible.
    package init(
        topic: String? = nil, pushType: PushType = .alert, priority: Priority = .immediate,
        expiration: Expiration = .singleAttempt
    ) {
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
    }
}

extension Attributes {
    private final class Collapsing: Hashable, Sendable {
        let id: String

        init(_ id: String) { self.id = id }

        static func == (one: Collapsing, other: Collapsing) -> Bool { one === other || one.id == other.id }

        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
}
