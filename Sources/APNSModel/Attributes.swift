/// The priority of the delivery to the device. It does not affect the daemon's own queue.
package enum Priority: UInt8, CaseIterable, Hashable, Sendable {
    /// 10: deliver immediately.
    case immediate = 10
    /// 5: deliver with regard to the device's power.
    case powerSaving = 5
    /// 1: never wake the device.
    case lowest = 1
}

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
    /// The collapse identifier, at most 64 bytes. On the device, a notification replaces earlier ones with the same
    /// identifier.
    package var collapseID: String? {
        get { rare?.collapseID }
        set { rare = Rare(collapseID: newValue, channel: channel) }
    }
    /// The channel of a broadcast, which goes to all its subscribers; `nil` for notifications to devices.
    package var channel: ChannelID? {
        get { rare?.channel }
        set { rare = Rare(collapseID: collapseID, channel: newValue) }
    }

    /// What few notifications have, as an object: attributes are copied with each batch.
    private var rare: Rare?

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
    private final class Rare: Hashable, Sendable {
        let collapseID: String?
        let channel: ChannelID?

        /// Creates the object; `nil` if there is nothing to hold.
        init?(collapseID: String?, channel: ChannelID?) {
            guard collapseID != nil || channel != nil else { return nil }
            (self.collapseID, self.channel) = (collapseID, channel)
        }

        static func == (one: Rare, other: Rare) -> Bool {
            one === other || one.collapseID == other.collapseID && one.channel == other.channel
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(collapseID)
            hasher.combine(channel)
        }
    }
}
